import type { FieldProblem } from '../base/errors.ts';
import { variableProblem } from '../base/fill-text.ts';
import type { Behaviour } from '../model/behaviour.ts';

/** Fields with texts that have variables as `{{name}}`. */
interface TextVariables<Name extends string> {
  readonly texts: readonly Name[];
  /** The field whose value says which variables there are. It is immutable. */
  readonly by: Name;
  readonly known: Readonly<Record<string, readonly string[]>>;
}

/** Behaviour: texts with other variables than the known ones are refused. */
export function textVariables<const Name extends string>(variables: TextVariables<Name>): Behaviour<Name> {
  const { texts, by, known } = variables;
  return {
    fields: [...texts, by],
    problemsOf: (values) => {
      const names = known[String(values[by])] ?? [];
      return texts.flatMap((field): FieldProblem[] => {
        const text = values[field];
        const message = typeof text === 'string' ? variableProblem(text, names) : undefined;
        return message === undefined ? [] : [{ path: `/${field}`, message }];
      });
    },
  };
}
