import type { Work } from '../kit/storage/work.ts';

/** Removal of a deleted organization, as operators see it. */
export interface ListedRemoval {
  readonly id: string;
  readonly organizationId: string;
  readonly organizationName: string;
  /** Null when the server deleted it. */
  readonly requesterId: string | null;
  readonly status: 'pending' | 'running' | 'completed' | 'undoing';
  readonly openSteps: readonly string[];
  readonly skippedSteps: readonly string[];
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
       r.status, r.open_steps as "openSteps", r.skipped_steps as "skippedSteps", r.total_records::float8 as "totalRecords", r.removed_records::float8 as "removedRecords", r.created_at as "createdAt",
       r.completed_at as "completedAt", 'work.' || f.id as "workId", f.activity as "failingStep", f.error
     from organization_removals r
     left join lateral (select id, activity, error from failing_work
       where record_id = r.id and workflow_type = 'removeOrganization' and ended_at is null order by since, id limit 1) f on true
     where r.deleted_at is null and (not $1 or r.status <> 'completed') and ($2::text is null or r.id < $2) order by r.id desc limit $3`,
    [isOpen, after ?? null, limit],
  );
}

/** An organization that one request deleted with others, and what an undo of that needs to know. */
export interface DeletedOrganization {
  readonly removalId: string;
  readonly organizationId: string;
  /** Whether the organization above it is deleted. */
  readonly isBelowDeleted: boolean;
  /** Whether one of the owners whom the deletion has removed still has an account, or an organization above it has owners. */
  readonly hasOwner: boolean;
  /** Whether its founder has another organization with its name. */
  readonly isNameTaken: boolean;
  /** Request that deleted it; null when there is no history of it (`db.enablehistory`). */
  readonly requestId: string | null;
}

/** The organization of a removal, first, and those below it that the same request deleted. Empty when the removal is undone. */
export function organizationsOfRemoval(work: Work, removalId: string): Promise<DeletedOrganization[]> {
  const requestOf = (removal: string) => `(select h.request_id from history h
    where h.entity_kind = 'organization_removal' and h.entity_id = ${removal}.id and h.operation = 'created' limit 1)`;
  return work.rowsAsSystem<DeletedOrganization>(
    `with recursive tree as (
       select r.id, r.removed_organization_id as organization_id, ${requestOf('r')} as request_id, 1 as level
       from organization_removals r where r.id = $1 and r.deleted_at is null
       union all
       select r.id, r.removed_organization_id, tree.request_id, tree.level + 1
       from tree join organizations o on o.parent_id = tree.organization_id
         join organization_removals r on r.removed_organization_id = o.id and r.deleted_at is null
       where ${requestOf('r')} = tree.request_id and tree.level < 100)
     select tree.id as "removalId", tree.organization_id as "organizationId", tree.request_id as "requestId",
       exists (select 1 from organizations p where p.id = o.parent_id and p.deleted_at is not null) as "isBelowDeleted",
       o.parent_id is not null or exists (select 1 from history h join memberships m on m.id = h.entity_id and m.role = 'owner'
         join users u on u.id = m.user_id and u.deleted_at is null
         where h.request_id = tree.request_id and h.entity_kind = 'membership' and h.operation = 'deleted'
           and h.organization_id = o.id) as "hasOwner",
       exists (select 1 from organizations t where t.founder_id = o.founder_id and t.name_form = o.name_form and t.deleted_at is null
         and t.id <> o.id) as "isNameTaken"
     from tree join organizations o on o.id = tree.organization_id order by tree.level, tree.id`,
    [removalId],
  );
}
