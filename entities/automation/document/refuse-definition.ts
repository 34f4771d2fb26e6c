import type { ValueChecks } from '../../kit/access/value-checks.ts';
import { AppError } from '../../kit/base/errors.ts';
import { checkDefinition, type DefinitionMeans } from './check-definition.ts';
import type { DefinitionProblem } from './definition-problem.ts';

/** Name of the check of definitions among the checks of values. */
export const definitionCheck = 'workflow definitions';

/** The check of every definition that is created or changed, whatever the way. */
export function checkOfDefinitions(means: DefinitionMeans): ValueChecks[string] {
  return async (work, { row, path }) => {
    const { organizationId, recordKind, document } = row as Record<'organizationId' | 'recordKind', string> & {
      readonly document: unknown;
    };
    const { problems } = await checkDefinition(work, { organizationId, recordKind, document }, means);
    return problems.length > 0 ? invalidDefinition(problems, `${path}/document`) : undefined;
  };
}

/** @param path JSON pointer of the document in the input */
export function invalidDefinition(problems: readonly DefinitionProblem[], path: string): AppError {
  const fields = problems.map((problem) => ({ ...problem, path: `${path}${problem.path}` }));
  const [first] = problems;
  const place = first && first.path !== '' ? `${first.path.slice(1)} ` : 'the document ';
  const others = problems.length > 1 ? ` The definition has ${problems.length} problems; errors lists them.` : '';
  const text = `The definition is not valid: ${place}${first?.message ?? ''}`;
  return new AppError('definition_invalid', `${text}${/[.?]$/.test(text) ? '' : '.'}${others}`, {
    details: { fields },
  });
}
