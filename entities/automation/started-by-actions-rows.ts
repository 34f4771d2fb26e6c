import type { Work } from '../kit/storage/work.ts';

/** Whether actions have started that many instances of an organization since a time. */
export async function hasStartedByActions(
  work: Work,
  organizationId: string,
  { since, count }: { readonly since: Date; readonly count: number },
): Promise<boolean> {
  const rows = await work.rowsAsSystem(
    `select 1 from workflow_instances
      where organization_id = $1 and created_at >= $2 and jsonb_array_length(chain) > 0 and deleted_at is null offset $3 limit 1`,
    [organizationId, since, count - 1],
  );
  return rows.length > 0;
}
