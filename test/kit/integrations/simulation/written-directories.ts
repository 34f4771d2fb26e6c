import { asOwner } from '../../as-owner.ts';
import type { World } from '../../world.ts';
import type { DirectoryModel, ModelPerson } from './directory-model.ts';
import type { ExpectedAccount } from './directory-sides.ts';

interface Directory {
  readonly integrationId: string;
  readonly model: DirectoryModel;
  readonly hasGroups: boolean;
  readonly expected: (person: ModelPerson) => ExpectedAccount;
}

interface DirectoryContent {
  readonly accounts: readonly ExpectedAccount[];
  readonly groups: readonly { readonly key: string; readonly name: string }[];
  /** `<account> <group>`. */
  readonly memberships: readonly string[];
  /** Keys that had more than one row, deleted ones included, and rows that were deleted though the provider kept the record. */
  readonly faults: readonly string[];
}

/** Records that are pushed have ids of the server, and name those of the provider. */
const keyOf = (alias: string) => `coalesce(${alias}.reference, ${alias}.external_id)`;

/** The directory as its rows describe it. */
export async function writtenContent(world: World, { integrationId, model }: Directory): Promise<DirectoryContent> {
  const rows = <T extends object>(text: string) => asOwner<T>(world, text, [integrationId]);
  const accounts = await rows<ExpectedAccount & { isDeleted: boolean }>(
    `select ${keyOf('a')} as key, email, display_name as name, is_active as "isActive", deleted_at is not null as "isDeleted"
     from directory_accounts a where integration_id = $1`,
  );
  const groups = await rows<{ key: string; name: string; isDeleted: boolean }>(
    `select ${keyOf('g')} as key, display_name as name, deleted_at is not null as "isDeleted"
     from directory_groups g where integration_id = $1`,
  );
  const memberships = await rows<{ key: string; isDeleted: boolean }>(
    `select ${keyOf('a')} || ' ' || ${keyOf('g')} as key, m.deleted_at is not null as "isDeleted"
     from directory_memberships m join directory_accounts a on a.id = m.account_id join directory_groups g on g.id = m.group_id
     where m.integration_id = $1`,
  );
  const doubled = [...accounts, ...groups]
    .map(({ key }) => key)
    .filter((key, index, all) => all.indexOf(key) !== index)
    .map((key) => `${key} was made twice`);
  const wronglyRemoved = (removed: ReadonlySet<string>, list: readonly { key: string; isDeleted: boolean }[]) =>
    list.filter(({ key, isDeleted }) => isDeleted && !removed.has(key)).map(({ key }) => `${key} was removed wrongly`);
  return {
    accounts: sorted(
      accounts
        .filter(({ isDeleted }) => !isDeleted)
        .map(({ key, email, name, isActive }) => ({ key, email, name, isActive })),
    ),
    groups: sorted(groups.filter(({ isDeleted }) => !isDeleted).map(({ key, name }) => ({ key, name }))),
    memberships: memberships.flatMap(({ key, isDeleted }) => (isDeleted ? [] : [key])).toSorted(),
    faults: [
      ...doubled,
      ...wronglyRemoved(model.removedPeople, accounts),
      ...wronglyRemoved(model.removedGroups, groups),
      ...wronglyRemoved(model.endedPairs, memberships),
    ],
  };
}

/** The directory as its provider has it. */
export function expectedContent({ model, hasGroups, expected }: Directory): DirectoryContent {
  const groups = hasGroups ? [...model.groups.values()] : [];
  return {
    accounts: sorted([...model.people.values()].map(expected)),
    groups: sorted(groups.map(({ id, name }) => ({ key: id, name }))),
    memberships: groups.flatMap(({ id, members }) => [...members].map((member) => `${member} ${id}`)).toSorted(),
    faults: [],
  };
}

/** Number of versions and of history rows of all directories. */
export async function writesOfDirectories(
  world: World,
): Promise<{ readonly versions: number; readonly history: number }> {
  const [row] = await asOwner<{ versions: number; history: number }>(
    world,
    `with held as (select id, record_version from directory_accounts
       union all select id, record_version from directory_groups union all select id, record_version from directory_memberships)
     select coalesce(sum(record_version), 0)::int as versions,
       (select count(*)::int from history h where h.entity_id in (select id from held)) as history from held`,
    [],
  );
  return row ?? { versions: -1, history: -1 };
}

function sorted<T extends { readonly key: string }>(list: readonly T[]): T[] {
  return list.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}
