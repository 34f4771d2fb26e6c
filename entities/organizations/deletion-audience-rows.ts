import type { Work } from '../kit/storage/work.ts';

/** Ids of the people who are notified of the deletion of an organization (`sql/people_of_deletion.sql`). */
export async function peopleOfDeletion(work: Work, organizationId: string): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ userId: string }>('select user_id as "userId" from people_of_deletion($1)', [
    organizationId,
  ]);
  return rows.map(({ userId }) => userId);
}
