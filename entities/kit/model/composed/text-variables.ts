import { variableProblem } from '../../base/fill-text.ts';
import type { FieldProblem } from '../../base/errors.ts';
import type { EntityModule } from '../define.ts';

/** Texts of a whole record with variables that they cannot have. */
export function variableProblems(
  { textVariables }: EntityModule,
  values: Readonly<Record<string, unknown>>,
): FieldProblem[] {
  if (!textVariables) return [];
  const { texts, by, known } = textVariables;
  const names = known[String(values[by])] ?? [];
  return texts.flatMap((field): FieldProblem[] => {
    const text = values[field];
    const message = typeof text === 'string' ? variableProblem(text, names) : undefined;
    return message === undefined ? [] : [{ path: `/${field}`, message }];
  });
}
