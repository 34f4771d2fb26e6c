import type { Work } from '../kit/storage/work.ts';

/** Removal of a deleted organization, as operators see it. */
export interface ListedRemoval {
  readonly id: string;
  readonly organizationId: string;
  readonly organizationName: string;
  /** Null when the server deleted it. */
  readonly requesterId: string | null;
  readonly status: 'pending' | 'running' | 'completed';
  readonly totalRecords: number | null;
  readonly removedRecords: number;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  /** Failing work that delays it; all null for none. */
  readonly workId: string | null;
  readonly failingStep: string | null;
  readonly error: string | null;
}

/** How many organizations the actor has deleted since then, without those below them. */
export async function removalsBegun(work: Work, since: Date, actor: string): Promise<number> {
  const [counted] = await work.rowsAsSystem<{ readonly count: number }>(
    `select count(*)::int as count from organization_removals r join organizations o on o.id = r.removed_organization_id
     where r.created_at >= $1 and r.created_by = $2 and o.parent_id is null`,
    [since, actor],
  );
  return counted?.count ?? 0;
}

interface RemovalSelection {
  readonly isOpen: boolean;
  readonly limit: number;
  /** Id of the last removal of the page before. */
  readonly after?: string | undefined;
}

/** Removals of the whole installation, the newest first. */
export function listRemovals(work: Work, { isOpen, limit, after }: RemovalSelection): Promise<ListedRemoval[]> {
  return work.rowsAsSystem<ListedRemoval>(
    `select r.id, r.removed_organization_id as "organizationId", r.organization_name as "organizationName", r.requester_id as "requesterId",
       r.status, r.total_records::float8 as "totalRecords", r.removed_records::float8 as "removedRecords", r.created_at as "createdAt",
       r.completed_at as "completedAt", 'work.' || f.id as "workId", f.activity as "failingStep", f.error
     from organization_removals r
     left join lateral (select id, activity, error from failing_work
       where record_id = r.id and workflow_type = 'removeOrganization' and ended_at is null order by since, id limit 1) f on true
     where r.deleted_at is null and (not $1 or r.status <> 'completed') and ($2::text is null or r.id < $2) order by r.id desc limit $3`,
    [isOpen, after ?? null, limit],
  );
}
