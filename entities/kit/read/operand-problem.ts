import type { EntityModule } from '../model/define.ts';
import { isId } from '../base/ids.ts';
import type { Registry } from '../model/registry.ts';
import { notAnId } from '../base/schema-problem.ts';
import type { Comparison } from './filter.ts';
import { equalityOperators, holdsIds, partOperators } from './operators.ts';
import { hasNoMatchedForm, matchedText } from '../storage/matched-form.ts';

/** Pattern of the operands of `partOperators`. */
export const partOfText = matchedText;

/**
 * Problem of a value with which a caller compares a field, in the words that bodies get; undefined if nothing is. All APIs that
 * read filters ask it about each value: what can be no id of any record would be equal to none, and different from all. A well-formed id
 * of a record that does not exist, or that the caller cannot see, is no problem: the answer must not distinguish the two.
 */
export function operandProblem(
  registry: Registry,
  module: EntityModule,
  name: string,
  operator: keyof Comparison,
  value: unknown,
): string | undefined {
  if (partOperators.has(operator) && typeof value === 'string' && hasNoMatchedForm(value))
    return value === ''
      ? 'must not be empty: every text has an empty one in it; leave the filter out for all records'
      : 'must have a character besides accents and invisible ones';
  if (!equalityOperators.has(operator) || !holdsIds(module, name) || isId(value)) return undefined;
  const prefixes = kindsIn(registry, module, name).flatMap(({ displayId }) => displayId ?? []);
  return notAnId(value, prefixes);
}

/** Problem of a comparison with null. @param isNull how the comparison that is meant is written */
export function nullOperandProblem({ fields }: EntityModule, name: string, isNull: string): string {
  const instead = fields[name]?.optional
    ? `${isNull} finds records without a value`
    : 'leave it out: every record has a value';
  return `cannot be compared with null; ${instead}`;
}

/** The kinds of records whose ids a field holds, as far as its definition says; other ids belong to kinds without display ids. */
function kindsIn({ references }: Registry, module: EntityModule, name: string): readonly EntityModule[] {
  if (module.historyOf) return name === 'recordId' ? [module.historyOf] : [];
  if (name === 'id') return [module];
  if (module.fields[name]?.anyOf) return references.kindsOf(module, name);
  const target = references.maybeTargetOf(module, name);
  return target ? [target] : [];
}
