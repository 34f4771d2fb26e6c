import { linesOf, pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';

/** The sweeps spare what pays within this time; the transaction that records a payment usually has. */
const sparedWithin = `interval '1 day'`;

/**
 * Compares marks for deletion with payments, with the history of the mark, and with announced deletions that are due. The time is that of the
 * server ($2). `tree` has the ids of the organization and of those below it: a payment of one of these applies to all.
 */
const disagreements = `with marks as materialized (
    select s.id, s.organization_id, s.marked_for_deletion_at as marked_at, s.deletion_not_before as not_before,
      s.deletion_requester_id as requester, tree.ids
    from organization_settings s
    cross join lateral (with recursive below as (
        select s.organization_id as id
        union select c.id from organizations c join below on c.parent_id = below.id where c.deleted_at is null
      ) select array_agg(below.id) as ids from below) tree
    where s.id = any($1)),
  lines as (
    select m.id, 'is marked for deletion although it has a payment method' as line from marks m
    where m.requester is null and m.marked_at < $2::timestamptz - ${sparedWithin} and exists (
      select 1 from organization_billings b where b.organization_id = any(m.ids) and b.deleted_at is null and b.has_payment_method
        and not exists (select 1 from history h where h.entity_kind = 'organization_billing' and h.entity_id = b.id
          and h.recorded_at > $2::timestamptz - ${sparedWithin} and 'hasPaymentMethod' = any(h.changed_fields)))
    union all
    select m.id, 'is marked for deletion although it has a subscription' from marks m
    where m.requester is null and m.marked_at < $2::timestamptz - ${sparedWithin} and exists (
      select 1 from organization_subscriptions p where p.organization_id = any(m.ids) and p.deleted_at is null
        and p.status in ('active', 'trialing') and p.updated_at < $2::timestamptz - ${sparedWithin})
    union all
    select m.id, 'is marked for deletion although an operator has granted modules' from marks m
    where m.requester is null and m.marked_at < $2::timestamptz - ${sparedWithin} and exists (
      select 1 from organization_modules g where g.organization_id = any(m.ids) and g.deleted_at is null and g.source = 'granted'
        and (g.ends_at is null or g.ends_at > $2::timestamptz) and g.created_at < $2::timestamptz - ${sparedWithin})
    union all
    select m.id, format('is deleted from %s on, but people were notified of %s', m.not_before, told.not_before) from marks m
    join lateral (select max((h.snapshot ->> 'deletionNotBefore')::timestamptz) as not_before from history h
      where h.entity_kind = 'organization_setting' and h.entity_id = m.id
        and (h.snapshot ->> 'markedForDeletionAt')::timestamptz = m.marked_at) told on told.not_before > m.not_before
    union all
    select m.id, 'is marked for deletion without a day' from marks m where m.not_before is null
    union all
    select m.id, 'has a deletion that an owner has announced, but nothing is due' from marks m
    where m.requester is not null and not exists (select 1 from announced_deletions a where a.id = m.organization_id))
  select format('organization %s %s', m.organization_id, l.line) as line from lines l join marks m on m.id = l.id order by 1`;

export const lifecycleComparison: Comparison = {
  name: 'marks for deletion',
  first: [''],
  page: async (work, { after, limit }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    const { rows } = await session.query<{ id: string }>(
      `select s.id from organization_settings s join organizations o on o.id = s.organization_id and o.deleted_at is null
       where s.id > $1 and s.deleted_at is null and s.marked_for_deletion_at is not null order by s.id limit $2`,
      [...after, limit],
    );
    const lines =
      rows.length === 0 ? [] : await linesOf(session, disagreements, [rows.map(({ id }) => id), work.clock.now()]);
    return { lines, ...pageOf(rows, limit, ({ id }) => [id]) };
  },
};
