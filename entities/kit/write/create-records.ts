import { databaseRoleOf } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { claimFiles } from './claim-files.ts';
import type { ChangeWork } from './change-work.ts';
import { refuseBlockingGranters } from './blocked-people.ts';
import { behavioursOf, completed } from './change-behaviour.ts';
import { refuseCreations } from './refused-changes.ts';
import { isDecidedByParent, newRows, type Creation, type Creator } from './creations.ts';
import { newReferences } from './new-references.ts';
import { checkReferences, lockHierarchies } from './references.ts';
import { withSealedValues } from './sealed-values.ts';
import { refuseUniqueConflicts } from './unique-conflicts.ts';

type Row = Record<string, unknown>;

/**
 * Creates records with their children, all or none: every input is checked before any row is buffered, and errors have the paths of
 * the problems.
 * @param authorize throws AppError permission_denied when the caller may not create the record
 * @returns the rows of the creations themselves, in their order
 * @throws AppError invalid_input, limit_exceeded, already_exists, permission_denied; not_found for references to records that the caller cannot view
 */
export async function createRecords(
  work: ChangeWork,
  creations: readonly Creation[],
  creator: Creator,
  authorize: (module: EntityModule, row: Row) => Promise<void>,
): Promise<Row[]> {
  const { caller } = creator;
  const role = databaseRoleOf(caller);
  const completing = { caller, registry: work.registry, names: work.options.configuredNames, at: creator.at };
  const made = newRows(
    creations.map((creation) => completed(creation, completing)),
    creator,
  );
  work.counters.reserve(made.filter(({ isGranted }) => !isGranted).length, work.context.caller);
  // Without rules all records can be read, and writes are dropped without an error.
  const kept = made.filter(({ module }) => module.policy);
  const decided = kept.filter(({ isGranted }) => !isGranted);
  const [decidedByParent, decidedAlone] = [
    decided.filter(isDecidedByParent),
    decided.filter((one) => !isDecidedByParent(one)),
  ];
  for (const { module, row } of decidedAlone) await authorize(module, row);
  for (const [module, rows] of Map.groupBy(kept, (one) => one.module))
    for (const { checkNew } of behavioursOf(module)) await checkNew?.(work, caller, rows);
  const references = newReferences(kept);
  const deep = references.filter(({ levels = 1 }) => levels > 1);
  for (const { module, field, id } of new Map(deep.map((reference) => [reference.module, reference])).values())
    await lockHierarchies(work, caller, module, { [field]: id });
  await checkReferences(work, caller, references);
  await claimFiles(
    work,
    caller,
    kept.map(({ module, row, path }) => ({ module, values: row, path })),
  );
  // Values that the server adds belong to a new record, so they conflict with nothing.
  if (decided.length > 1) await refuseUniqueConflicts(await work.readAs(role), decided);
  await refuseCreations(work, caller, kept);
  for (const { module, row } of kept)
    Object.assign(row, await withSealedValues(work.options, module, row['id'] as string, row));
  for (const [level, rows] of Map.groupBy(kept, (one) => one.level)) {
    // Parents, and what makes the caller their manager, are written before the child's rule reads them.
    const [granted, others] = [rows.filter(({ isGranted }) => isGranted), rows.filter(({ isGranted }) => !isGranted)];
    if (granted.length > 0) await work.insert(role, granted);
    for (const { module, row } of decidedByParent.filter((one) => one.level === level)) await authorize(module, row);
    await refuseBlockingGranters(work, caller, others);
    if (others.length > 0) await work.insert(role, others);
  }
  return made.filter(({ level }) => level === 0).map(({ row }) => row);
}
