import type { Work } from '../kit/storage/work.ts';

/** Records that a page of a backfill looks at: those after a position, in the order of their ids. */
export interface BackfillPage {
  readonly after: string;
  readonly limit: number;
}

async function idsOf(work: Work, text: string, { after, limit }: BackfillPage): Promise<string[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ id: string }>(text, [after, limit]);
  return rows.map(({ id }) => id);
}

export function organizationsAfter(work: Work, page: BackfillPage): Promise<string[]> {
  return idsOf(work, 'select id from organizations where id > $1 and deleted_at is null order by id limit $2', page);
}

export function membershipsAfter(work: Work, page: BackfillPage): Promise<string[]> {
  return idsOf(work, 'select id from memberships where id > $1 and deleted_at is null order by id limit $2', page);
}

export function settingsAfter(work: Work, page: BackfillPage): Promise<string[]> {
  return idsOf(
    work,
    'select id from organization_settings where id > $1 and deleted_at is null order by id limit $2',
    page,
  );
}

interface NamedEntityType {
  readonly organizationId: string;
  readonly name: string;
}

/** Entity types that organizations have or had: one that somebody has deleted or renamed does not come back. */
export async function knownEntityTypes(work: Work, organizationIds: readonly string[]): Promise<NamedEntityType[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<NamedEntityType>(
    `with known as (select id, organization_id, name from entity_types where organization_id = any($1))
     select organization_id as "organizationId", name from known
     union select known.organization_id, h.snapshot ->> 'name' from known
       join history h on h.entity_kind = 'entity_type' and h.entity_id = known.id and 'name' = any(h.changed_fields)`,
    [organizationIds],
  );
  return rows;
}

/** Which of these organizations pay for themselves and have no billing yet. */
export async function organizationsWithoutBilling(work: Work, organizationIds: readonly string[]): Promise<string[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ id: string }>(
    `select o.id from organizations o where o.id = any($1) and o.deleted_at is null and not o.is_personal and o.parent_id is null
       and not exists (select 1 from organization_billings b where b.organization_id = o.id) order by o.id`,
    [organizationIds],
  );
  return rows.map(({ id }) => id);
}

interface OwnerAddress {
  /** Id of the settings. */
  readonly id: string;
  /** Confirmed address of the person who has been an owner for longest. */
  readonly email: string;
}

/** Of these settings, those without an address for invoices, unless somebody has removed it. */
export async function ownersOfSettings(work: Work, ids: readonly string[]): Promise<OwnerAddress[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<OwnerAddress>(
    `select distinct on (s.id) s.id, u.email from organization_settings s
       join memberships m on m.organization_id = s.organization_id and m.role = 'owner' and m.deleted_at is null
       join users u on u.id = m.user_id and u.deleted_at is null and u.email_confirmed_at is not null
     where s.id = any($1) and s.deleted_at is null and s.billing_email is null
       and not exists (select 1 from history h where h.entity_kind = 'organization_setting' and h.entity_id = s.id
         and h.operation = 'updated' and 'billingEmail' = any(h.changed_fields))
     order by s.id, m.id`,
    [ids],
  );
  return rows;
}
