import type { Work } from '../kit/storage/work.ts';
import type { LifecycleFacts } from './lifecycle.ts';

/** Facts of an organization that decide about its deletion. */
export interface LifecycleRow extends LifecycleFacts {
  /** Id of the organization. */
  readonly id: string;
  /** The same. */
  readonly organizationId: string;
  readonly recordVersion: number;
  readonly name: string;
  /** When it was marked, exactly; empty without a mark. */
  readonly markPosition: string;
}

export interface LifecycleSelection {
  readonly now: Date;
  /** Domains whose founders need not pay (`ormconfig.billing.bypassemaildomains`). */
  readonly exemptDomains: readonly string[];
}

export interface LifecyclePage extends LifecycleSelection {
  readonly limit: number;
}

/** Organizations that pay for themselves, in the order of their ids. @param after id of the last one before */
export function lifecycleCandidates(
  work: Work,
  { limit, after, ...selection }: LifecyclePage & { readonly after: string },
): Promise<LifecycleRow[]> {
  return factsOf(
    work,
    `select c.* from organizations c where c.id > $3 and c.deleted_at is null and not c.is_personal and c.parent_id is null
       order by c.id limit $4`,
    'o.id',
    selection,
    [after, limit],
  );
}

/** Marked organizations, the oldest mark first. @param after `markPosition` and id of the last one before */
export function markedOrganizations(
  work: Work,
  {
    limit,
    after: [at = '-infinity', id = ''] = [],
    ...selection
  }: LifecyclePage & { readonly after?: readonly string[] | undefined },
): Promise<LifecycleRow[]> {
  return factsOf(
    work,
    `select c.* from organization_settings m join organizations c on c.id = m.organization_id and c.deleted_at is null
       where m.deleted_at is null and (m.marked_for_deletion_at, m.organization_id) > ($3::timestamptz, $4)
       order by m.marked_for_deletion_at, m.organization_id limit $5`,
    's.marked_for_deletion_at, o.id',
    selection,
    [at, id, limit],
  );
}

/** The facts of one organization, whether or not it can be marked; undefined when there is none. */
export async function lifecycleFacts(
  work: Work,
  organizationId: string,
  selection: LifecycleSelection,
): Promise<LifecycleRow | undefined> {
  const [row] = await factsOf(
    work,
    'select c.* from organizations c where c.id = $3 and c.deleted_at is null',
    'o.id',
    selection,
    [organizationId],
  );
  return row;
}

/** One statement for however many organizations. A payment or a grant of an organization below applies to the one above, too. */
function factsOf(
  work: Work,
  organizations: string,
  order: string,
  { now, exemptDomains }: LifecycleSelection,
  values: readonly unknown[],
): Promise<LifecycleRow[]> {
  return work.rowsAsSystem<LifecycleRow>(
    `select o.id, o.id as "organizationId", o.record_version as "recordVersion", o.name, o.created_at as "createdAt", o.is_personal as "isPersonal", o.parent_id as "parentId", s.id as "settingsId",
       coalesce(u.is_exempt, false) as "isBypassed", paid.reconciled_at as "billingReadAt",
       coalesce(paid.has_payment_method, false) as "hasPaymentMethod", paid.trial_ends_at as "trialEndsAt",
       coalesce(subscribed.statuses, '{}') as "subscriptionStatuses", subscribed.end_at as "subscriptionsEndAt",
       granted.is_granted as "isGranted", granted.end_at as "grantsEndAt",
       s.marked_for_deletion_at as "markedForDeletionAt", coalesce(s.marked_for_deletion_at::text, '') as "markPosition",
       s.deletion_not_before as "deletionNotBefore", s.deletion_notice as "deletionNotice",
       s.deletion_requester_id as "deletionRequesterId", s.spared_until as "sparedUntil"
     from (${organizations}) o
     left join organization_settings s on s.organization_id = o.id and s.deleted_at is null
     left join lateral (select lower(split_part(f.email, '@', 2)) = any($2::text[]) as is_exempt from users f
       where f.id = o.founder_id and f.email_confirmed_at is not null and f.deleted_at is null) u on true
     cross join lateral (with recursive below as (
         select o.id
         union select c.id from organizations c join below on c.parent_id = below.id where c.deleted_at is null
       ) select array_agg(below.id) as ids from below) tree
     left join lateral (select min(b.reconciled_at) as reconciled_at, bool_or(b.has_payment_method) as has_payment_method,
         max(b.trial_ends_at) as trial_ends_at from organization_billings b
       where b.organization_id = any(tree.ids) and b.deleted_at is null) paid on true
     cross join lateral (select array_agg(distinct p.status) as statuses, case when bool_and(p.end_at is not null) filter (where p.applies)
         then max(p.end_at) filter (where p.applies) end as end_at
       from (select status, status in ('active', 'trialing') as applies,
           coalesce(cancels_at, case when is_trial_of_server and status = 'trialing' then trial_ends_at end) as end_at
         from organization_subscriptions where organization_id = any(tree.ids) and deleted_at is null) p) subscribed
     cross join lateral (select count(*) > 0 as is_granted, case when bool_and(g.ends_at is not null) then max(g.ends_at) end as end_at
       from organization_modules g where g.organization_id = any(tree.ids) and g.source = 'granted' and g.deleted_at is null
         and (g.ends_at is null or g.ends_at > $1)) granted
     order by ${order}`,
    [now, exemptDomains.map((domain) => domain.toLowerCase()), ...values],
  );
}
