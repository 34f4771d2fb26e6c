import type { Work } from '../storage/work.ts';
import { judgedSession, snapshotTextOf, stateIn, type MembershipState } from './principal-state.ts';

/** The states of many people in an organization, by their ids, in one statement (`readMembershipState`). */
export async function readMembershipStates(
  work: Work,
  userIds: readonly string[],
  organizationId: string,
): Promise<ReadonlyMap<string, MembershipState>> {
  const session = await work.readAs('app');
  const { rows } = await session.query<{ readonly id: string; readonly result: string }>(
    `select person.id, state.result from unnest($1::text[]) as person (id) cross join lateral (${snapshotTextOf('person.id', '$2', '$3')}) as state`,
    [userIds, judgedSession, organizationId],
  );
  return new Map(rows.map(({ id, result }) => [id, stateIn(result)]));
}
