import type { Work } from '../kit/storage/work.ts';

/** An account about whose membership the server decides, and the person whom it is about. */
export interface ProvisionedAccount {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string | null;
  readonly isActive: boolean;
  readonly provisioning: 'none' | 'waiting' | 'member' | 'ended' | 'refused';
  readonly provisioningProblem: string | null;
  /** The person at the last decision. */
  readonly formerUserId: string | null;
  /** The membership that the directory gave; it may have ended since. */
  readonly membershipId: string | null;
  /** Person and role of that membership while it lasts. */
  readonly givenUserId: string | null;
  readonly givenRole: string | null;
  /** Ids of its groups. */
  readonly groups: readonly string[];
  /** The active person with this confirmed address. */
  readonly userId: string | null;
  /** Their membership in the organization, whoever gave it. */
  readonly heldMembershipId: string | null;
  readonly heldRole: string | null;
  /** A directory has given it, maybe one that is not connected any more; no person has. */
  readonly isHeldByDirectory: boolean;
  /** Another active account of the directory has given it. */
  readonly isHeldByAnother: boolean;
  /** The membership that they had last was ended by a person, or they left. */
  readonly wasRemoved: boolean;
}

const selected = `select a.id, a.email, a.is_active as "isActive", a.provisioning, a.provisioning_problem as "provisioningProblem",
    a.organization_id as "organizationId", a.user_id as "formerUserId", a.membership_id as "membershipId",
    given.user_id as "givenUserId", given.role as "givenRole", u.id as "userId", m.id as "heldMembershipId", m.role as "heldRole",
    coalesce(m.created_by = 'system:provision from directory', false) as "isHeldByDirectory",
    case when m.id is null or m.id = a.membership_id then false else exists (select 1 from directory_accounts o
      where o.membership_id = m.id and o.integration_id = a.integration_id and o.is_active and o.deleted_at is null) end as "isHeldByAnother",
    coalesce((select former.deleted_by not like 'system:%' from memberships former
      where former.user_id = u.id and former.organization_id = a.organization_id and former.deleted_at is not null
      order by former.deleted_at desc limit 1), false) as "wasRemoved",
    array(select g.id from directory_memberships d join directory_groups g on g.id = d.group_id
      where d.account_id = a.id and d.deleted_at is null and g.deleted_at is null) as groups
  from directory_accounts a
    left join memberships given on given.id = a.membership_id and given.deleted_at is null
    left join users u on u.email = a.email and u.deleted_at is null and u.status = 'active' and u.email_confirmed_at is not null
    left join memberships m on m.user_id = u.id and m.organization_id = a.organization_id and m.deleted_at is null
  where a.integration_id = $1 and a.deleted_at is null and a.is_active`;

/** Active accounts of a directory after this id. */
export function accountsToProvision(
  work: Work,
  integrationId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ProvisionedAccount[]> {
  return work.rowsAsSystem<ProvisionedAccount & { readonly [name: string]: unknown }>(
    `${selected} and a.id > $2 order by a.id limit $3`,
    [integrationId, after, limit],
  );
}

export async function accountToProvision(
  work: Work,
  integrationId: string,
  accountId: string,
): Promise<ProvisionedAccount | undefined> {
  const rows = await work.rowsAsSystem<ProvisionedAccount & { readonly [name: string]: unknown }>(
    `${selected} and a.id = $2`,
    [integrationId, accountId],
  );
  return rows[0];
}

/** A group of a directory, as the directory names it. */
export interface NamedGroup {
  readonly id: string;
  readonly externalId: string;
  readonly displayName: string | null;
}

/** Groups of a directory with one of these ids or names there. */
export function groupsNamed(work: Work, integrationId: string, texts: readonly string[]): Promise<NamedGroup[]> {
  return work.rowsAsSystem<NamedGroup & { readonly [name: string]: unknown }>(
    `select id, external_id as "externalId", display_name as "displayName" from directory_groups
      where integration_id = $1 and deleted_at is null and (external_id = any($2) or display_name = any($2))`,
    [integrationId, texts],
  );
}

/** A membership that a directory has given to an account which is inactive or gone. */
export interface SurplusMembership {
  readonly accountId: string;
  readonly membershipId: string;
  readonly isGone: boolean;
  readonly provisioning: ProvisionedAccount['provisioning'];
  /** The organization has no other active owner. */
  readonly isLastOwner: boolean;
}

/** The condition that an account gives no membership any more, and that no active account of its directory gives the same one. */
const isEnded = (account: string) => `(${account}.deleted_at is not null or not ${account}.is_active)
  and not exists (select 1 from directory_accounts active where active.membership_id = ${account}.membership_id
    and active.integration_id = ${account}.integration_id and active.is_active and active.deleted_at is null)`;

/** @param options `after`: id of the last account of those before; `among`: ids of the only accounts to look at */
export function surplusMemberships(
  work: Work,
  integrationId: string,
  {
    after,
    among,
    limit,
  }: { readonly after: string; readonly among: readonly string[] | undefined; readonly limit: number },
): Promise<SurplusMembership[]> {
  return work.rowsAsSystem<SurplusMembership & { readonly [name: string]: unknown }>(
    `select a.id as "accountId", m.id as "membershipId", a.deleted_at is not null as "isGone", a.provisioning,
        m.role = 'owner' and not exists (select 1 from memberships o join users u on u.id = o.user_id
          where o.organization_id = m.organization_id and o.role = 'owner' and o.id <> m.id and o.deleted_at is null
            and u.status = 'active' and u.deleted_at is null
            -- Of several owners who end together, the last one stays.
            and not exists (select 1 from directory_accounts b where b.membership_id = o.id and b.integration_id = a.integration_id
              and b.id < a.id and ${isEnded('b')})) as "isLastOwner"
      from directory_accounts a join memberships m on m.id = a.membership_id
      where a.integration_id = $1 and m.deleted_at is null and ${isEnded('a')} and a.id > $2
        and ($4::text[] is null or a.id = any($4)) order by a.id limit $3`,
    [integrationId, after, limit, among ?? null],
  );
}

/** Whether an integration decides about memberships now. It continues to end them while its organization takes no members. */
export function isProvisioning(work: Work, integrationId: string): Promise<boolean> {
  return isPrimary(work, integrationId, '');
}

/** Whether it gives them as well: not in an organization that is archived or of one person. */
export function isGivingMemberships(work: Work, integrationId: string): Promise<boolean> {
  return isPrimary(work, integrationId, 'and not o.is_archived and not o.is_personal and o.deleted_at is null');
}

/** @param condition further SQL about the organization `o` */
async function isPrimary(work: Work, integrationId: string, condition: string): Promise<boolean> {
  const rows = await work.rowsAsSystem(
    `select 1 from integrations i join organizations o on o.id = i.organization_id
      where i.id = $1 and i.is_primary_directory and i.deleted_at is null and i.status in ('connected', 'errored') ${condition}`,
    [integrationId],
  );
  return rows.length > 0;
}

/** Primary directories with an account that has waited for this person. */
export function directoriesAwaiting(
  work: Work,
  userId: string,
): Promise<{ readonly integrationId: string; readonly organizationId: string }[]> {
  return work.rowsAsSystem(
    `select distinct i.id as "integrationId", i.organization_id as "organizationId"
      from users u join directory_accounts a on a.email = u.email join integrations i on i.id = a.integration_id
      where u.id = $1 and a.provisioning = 'waiting' and a.deleted_at is null and i.is_primary_directory and i.deleted_at is null`,
    [userId],
  );
}
