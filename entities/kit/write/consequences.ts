import type { RecordedChange } from '../model/recorded-changes.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { deleteDependents } from './cascade.ts';
import type { ChangeWork } from './change-work.ts';
import { alignFollowers } from './behaviours/followers.ts';
import { keepLast } from './behaviours/keep-last.ts';

/**
 * Makes the changes that follow from changes of this transaction, whoever made them: what would leave an organization without an owner is
 * refused, dependents are deleted with their owners, and what the server keeps in line with a record changes with it.
 * @param session of the system role
 */
export async function makeConsequences(
  session: RoleSession,
  changes: readonly RecordedChange[],
  work: ChangeWork,
): Promise<void> {
  if (changes.some(({ module, before }) => module.keepsLast && before)) await keepLast(session, changes, work.registry);
  if (changes.some(({ operation }) => operation === 'deleted')) await deleteDependents(session, changes, work);
  await alignFollowers(session, changes, work);
}
