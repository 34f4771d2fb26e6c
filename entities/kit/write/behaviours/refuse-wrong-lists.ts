import type { AppError, FieldProblem } from '../../base/errors.ts';
import { inputError } from '../../base/input-error.ts';
import type { Caller } from '../../model/caller.ts';
import type { EntityModule } from '../../model/define.ts';
import { refuseBeyondLimits, refuseDisabledModule } from '../../model/module-gate.ts';
import type { Registry } from '../../model/registry.ts';
import { describedList } from '../../read/described-list.ts';
import type { ChangeWork } from '../change-work.ts';
import type { NewRow } from '../creations.ts';

/**
 * Checks the lists that new records describe (`describesList`), so that work that is done later does not fail because of them.
 * @throws AppError invalid_input; module_not_enabled and permission_denied for a kind that the caller cannot use
 */
export function refuseWrongLists(
  { registry }: Pick<ChangeWork, 'registry'>,
  caller: Caller,
  rows: readonly NewRow[],
): void {
  const problems: FieldProblem[] = [];
  for (const { module, row, path } of rows) {
    const { describesList } = module;
    if (!describesList) continue;
    const described = describedList(registry, describesList, row);
    const found =
      'problems' in described ? described.problems : importProblems(described.list.module, row, describesList.action);
    problems.push(...found.map((problem) => ({ ...problem, path: `${path}${problem.path}` })));
    if (!('list' in described)) continue;
    refuseDisabledModule(described.list.module, caller);
    refuseBeyondLimits(described.list.module, operationOf(row, describesList.action), caller);
  }
  if (problems.length > 0) throw inputError(problems);
}

/**
 * Why a record cannot describe the list that it would describe after a change; undefined for other kinds, and for changes of something else:
 * a list that the product does not have any more can still be renamed, cancelled or removed.
 * @param given what changes
 */
export function refusedList(
  registry: Registry,
  { describesList }: EntityModule,
  row: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): AppError | undefined {
  if (!describesList || !Object.values(describesList).some((name) => Object.hasOwn(given, name))) return undefined;
  const described = describedList(registry, describesList, { ...row, ...given });
  return 'problems' in described ? inputError(described.problems) : undefined;
}

function operationOf(row: Readonly<Record<string, unknown>>, field: string | undefined): 'view' | 'create' | 'edit' {
  if (field === undefined) return 'view';
  return row[field] === 'update' ? 'edit' : 'create';
}

/** Why records of the kind cannot be imported; none for other work. */
function importProblems(
  { mutate = [], typeName, fields, needsProof }: EntityModule,
  row: Readonly<Record<string, unknown>>,
  field: string | undefined,
): FieldProblem[] {
  if (field === undefined) return [];
  const action = row[field] as 'create' | 'update';
  if (!mutate.includes(action)) return [{ path: `/${field}`, message: `cannot be ${action} for ${typeName} records` }];
  // Checks that need the person, such as a proof of identity, cannot be made later.
  const needsPerson = needsProof !== undefined || Object.values(fields).some(({ isChecked }) => isChecked);
  if (!needsPerson) return [];
  return [
    {
      path: `/${field}`,
      message: `is not possible for ${typeName} records with a file; use the mutation for CSV as a text`,
    },
  ];
}
