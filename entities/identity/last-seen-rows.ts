import type { Work } from '../kit/storage/work.ts';

/**
 * Notes that a person is there now, and in which organization, where their next sign-in begins. It is an observation of the server and no
 * change of the record: it has no version, no history and no event, which would reveal to colleagues who works when. Code that changes
 * sessions of the person has locked the user before.
 */
export async function noteSeen(work: Work, userId: string, organizationId: string | null): Promise<void> {
  await work.runAsSystem(
    'update users set last_seen_at = $2, last_organization_id = coalesce($3, last_organization_id) where id = $1',
    [userId, work.clock.now(), organizationId],
  );
}
