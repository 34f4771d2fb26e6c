import type { Work } from '../kit/storage/work.ts';

/** Table of resources of a directory, and columns with which they are found without reading them all. */
const tables = {
  directoryAccount: { table: 'directory_accounts', byName: 'user_name' },
  directoryGroup: { table: 'directory_groups', byName: 'display_name' },
} as const;

export interface DirectoryPage {
  readonly kind: keyof typeof tables;
  readonly integrationId: string;
  /** Only the resource with this id, these whose reference is this one, or these with this name in whatever case. */
  readonly only?: { readonly by: 'id' | 'reference' | 'name'; readonly value: string };
  readonly offset: number;
  readonly limit: number;
}

/** A page of the ids of a directory in the order of their creation, and how many there are. */
export async function directoryPage(
  work: Work,
  { kind, integrationId, only, offset, limit }: DirectoryPage,
): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
  const { table, byName } = tables[kind];
  const column = { id: 'id = $2', reference: 'reference = $2', name: `lower(${byName}) = lower($2)` };
  const which = `integration_id = $1 and deleted_at is null and ${only ? column[only.by] : '$2::text is null'}`;
  const values = [integrationId, only?.value ?? null];
  const rows = await work.rowsAsSystem<{ readonly id: string }>(
    `select id from ${table} where ${which} order by id offset $3 limit $4`,
    [...values, offset, limit],
  );
  const [counted] = await work.rowsAsSystem<{ readonly total: number }>(
    `select count(*)::int as total from ${table} where ${which}`,
    values,
  );
  return { ids: rows.map(({ id }) => id), total: counted?.total ?? 0 };
}

/** Accounts of groups, by group. */
export async function membersOfGroups(
  work: Work,
  groupIds: readonly string[],
): Promise<{ readonly groupId: string; readonly accountId: string }[]> {
  return work.rowsAsSystem(
    `select m.group_id as "groupId", m.account_id as "accountId"
      from directory_memberships m join directory_accounts a on a.id = m.account_id
      where m.group_id = any($1) and m.deleted_at is null and a.deleted_at is null order by m.group_id, m.account_id`,
    [groupIds],
  );
}

/** Groups of accounts. */
export async function groupsOfAccounts(
  work: Work,
  accountIds: readonly string[],
): Promise<{ readonly accountId: string; readonly groupId: string; readonly displayName: string | null }[]> {
  return work.rowsAsSystem(
    `select m.account_id as "accountId", m.group_id as "groupId", g.display_name as "displayName"
      from directory_memberships m join directory_groups g on g.id = m.group_id
      where m.account_id = any($1) and m.deleted_at is null and g.deleted_at is null order by m.account_id, m.group_id`,
    [accountIds],
  );
}

/** Which of these ids are accounts of a directory. */
export async function knownAccounts(
  work: Work,
  integrationId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await work.rowsAsSystem<{ readonly id: string }>(
    'select id from directory_accounts where integration_id = $1 and id = any($2) and deleted_at is null',
    [integrationId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Memberships of a group, all or those of some accounts. */
export async function membershipsOfGroup(
  work: Work,
  groupId: string,
  accountIds?: readonly string[],
): Promise<{ readonly id: string; readonly accountId: string }[]> {
  return work.rowsAsSystem(
    `select id, account_id as "accountId" from directory_memberships
      where group_id = $1 and deleted_at is null and ($2::text[] is null or account_id = any($2)) order by id`,
    [groupId, accountIds ?? null],
  );
}
