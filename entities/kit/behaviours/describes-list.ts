import type { AppError, FieldProblem } from '../base/errors.ts';
import { inputError } from '../base/input-error.ts';
import type { ListFields } from '../model/behaviour.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { refuseBeyondLimits, refuseDisabledModule } from '../model/module-gate.ts';
import type { Registry } from '../model/registry.ts';
import { describedList } from '../read/described-list.ts';
import type { ChangeBehaviour } from '../write/change-behaviour.ts';
import type { NewRow } from '../write/creations.ts';

/** Behaviour: records describe a list of records for work that is done later, which must not fail because of the description. */
export function describesList<const Name extends string>(list: ListFields<Name>): ChangeBehaviour<Name> {
  const { kind, fields, filter, orderBy, action } = list;
  return {
    list,
    fields: [kind, fields, filter, orderBy, action].filter((name) => name !== undefined),
    checkNew: ({ registry }, caller, rows) => refuseWrongLists(list, registry, caller, rows),
    check: ({ registry, operation, row, changed }) =>
      operation === 'edit' ? refusedList(list, registry, row, changed) : undefined,
  };
}

/** @throws AppError invalid_input; module_not_enabled and permission_denied for a kind that the caller cannot use */
function refuseWrongLists(list: ListFields, registry: Registry, caller: Caller, rows: readonly NewRow[]): void {
  const problems: FieldProblem[] = [];
  for (const { row, path } of rows) {
    const described = describedList(registry, list, row);
    const found =
      'problems' in described ? described.problems : importProblems(described.list.module, row, list.action);
    problems.push(...found.map((problem) => ({ ...problem, path: `${path}${problem.path}` })));
    if (!('list' in described)) continue;
    refuseDisabledModule(described.list.module, caller);
    refuseBeyondLimits(described.list.module, operationOf(row, list.action), caller);
  }
  if (problems.length > 0) throw inputError(problems);
}

/**
 * Why a record cannot describe the list that it would describe after a change; undefined for changes of something else: a list that the
 * product does not have any more can still be renamed, cancelled or removed.
 */
function refusedList(
  list: ListFields,
  registry: Registry,
  row: Readonly<Record<string, unknown>>,
  changed: Readonly<Record<string, unknown>>,
): AppError | undefined {
  if (!Object.values(list).some((name) => Object.hasOwn(changed, name))) return undefined;
  const described = describedList(registry, list, { ...row, ...changed });
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
