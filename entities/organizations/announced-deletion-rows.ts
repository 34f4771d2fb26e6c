import type { Work } from '../kit/storage/work.ts';

/** Makes the deletion of an organization due at a time; the settings of the organization decide whether it is deleted then. */
export async function setAnnouncedDeletion(work: Work, organizationId: string, dueAt: Date): Promise<void> {
  await work.runAsSystem(
    `insert into announced_deletions (id, organization_id, due_at) values ($1, $1, $2)
     on conflict (id) do update set due_at = excluded.due_at`,
    [organizationId, dueAt],
  );
}

/** It is not due any more. */
export async function endAnnouncedDeletion(work: Work, organizationId: string): Promise<void> {
  await work.runAsSystem('delete from announced_deletions where id = $1', [organizationId]);
}
