import type { EntityModule } from '../model/define.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { deleteDependents } from './cascade.ts';
import { afterWriting, followersOf } from './change-behaviour.ts';
import type { ChangeWork } from './change-work.ts';

/**
 * Makes the changes that follow from changes of this transaction, whoever made them: behaviours of their kinds refuse them or write more,
 * dependents are deleted with their owners, and what the server keeps in line with a record changes with it.
 * @param session of the system role
 */
export async function makeConsequences(
  session: RoleSession,
  changes: readonly RecordedChange[],
  work: ChangeWork,
): Promise<void> {
  await afterWriting(session, changes, work);
  if (changes.some(({ operation }) => operation === 'deleted')) await deleteDependents(session, changes, work);
  // Followers of a deleted record are deleted as its dependents.
  const kept = changes.filter(({ operation }) => operation !== 'deleted');
  for (const [followed, own] of Map.groupBy(kept, ({ module }) => module))
    for (const { module: follower, follows } of followersOf(work.registry, followed))
      await follows.align(session, { follower, followed }, own, work);
}

/**
 * Brings what follows these records in line with them, as a change of each would. The caller has locked them.
 * @returns how many followers it changed
 */
export async function alignFollowers(
  work: ChangeWork,
  followed: EntityModule,
  ids: readonly string[],
): Promise<number> {
  let changed = 0;
  const changes = ids.map((id) => ({ id, operation: 'updated' as const }));
  await work.changeRows('system', followed, async (session) => {
    for (const { module: follower, follows } of followersOf(work.registry, followed))
      changed += await follows.align(session, { follower, followed }, changes, work);
    return [];
  });
  return changed;
}
