import type { Work } from '../kit/storage/work.ts';

/** Lets one definition of an organization at a time be published, until the end of the transaction: two that conflict would not see each other. */
export async function lockPublishing(work: Work, organizationId: string): Promise<void> {
  await work.runAsSystem(`select pg_advisory_xact_lock(hashtextextended('workflow-definitions:' || $1, 0))`, [
    organizationId,
  ]);
}

/** Those of some organizations that never had a definition, and are shared by people: nobody but its person acts in a personal one. */
export async function organizationsWithoutDefinitions(work: Work, ids: readonly string[]): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ id: string }>(
    `select o.id from organizations o where o.id = any($1) and not o.is_personal
       and not exists (select 1 from workflow_definitions d where d.organization_id = o.id) order by o.id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}
