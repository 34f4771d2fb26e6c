import { directoryGroup } from '#entities/integrations/directory-group.ts';
import { directoryMembership } from '#entities/integrations/directory-membership.ts';
import { knownAccounts, membersOfGroups, membershipsOfGroup } from '#entities/integrations/directory-page-rows.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { ScimError } from './scim-error.ts';
import { readResource } from './scim-documents.ts';
import { matches } from './scim-matches.ts';
import type { ScimOperation } from './scim-patch.ts';
import { groupSchema } from './scim-schemas.ts';
import type { ScimDirectory } from './scim-sender.ts';
import { metaOf } from './scim-users.ts';

type Group = RowOf<typeof directoryGroup>;
type Resource = Record<string, unknown>;

/** Members that are written in one statement. */
const chunkSize = 1_000;

export async function createGroup(directory: ScimDirectory, body: unknown): Promise<Group> {
  const { unit, integration } = directory;
  const resource = readResource(groupSchema, body);
  const group = await unit.data.create(directoryGroup, {
    organizationId: integration.organizationId,
    integrationId: integration.id,
    externalId: newId(),
    ...valuesOf(resource),
  });
  await addMembers(directory, group, await accountsIn(directory, resource['members']));
  return group;
}

/** A request without members empties the group; that is what it says (RFC 7644, section 3.5.1). */
export async function replaceGroup(directory: ScimDirectory, held: Group, body: unknown): Promise<Group> {
  const resource = readResource(groupSchema, body);
  const wanted = await accountsIn(directory, resource['members']);
  const isChanged = await setMembers(directory, held, wanted);
  return writeGroup(directory, held, valuesOf(resource), isChanged);
}

export async function patchGroup(
  directory: ScimDirectory,
  held: Group,
  operations: readonly ScimOperation[],
): Promise<Group> {
  const resource: Resource = { displayName: held.displayName, externalId: held.reference ?? undefined };
  let isChanged = false;
  for (const operation of operations) {
    const { op, attribute, value } = operation;
    if (attribute.name === 'members') isChanged = (await patchMembers(directory, held, operation)) || isChanged;
    else if (op === 'remove') delete resource[attribute.name];
    else resource[attribute.name] = value;
  }
  return writeGroup(directory, held, valuesOf(resource), isChanged);
}

function valuesOf(resource: Resource) {
  const { displayName, externalId } = resource;
  if (typeof displayName !== 'string' || displayName.trim() === '')
    throw new ScimError('invalidValue', '"displayName" is required and must not be empty.');
  if (displayName.length > 256) throw new ScimError('invalidValue', '"displayName" has more than 256 characters.');
  if (typeof externalId === 'string' && externalId.length > 255)
    throw new ScimError('invalidValue', '"externalId" has more than 255 characters.');
  return { displayName, reference: typeof externalId === 'string' && externalId !== '' ? externalId : null };
}

/** @param isChanged members have changed, and the group gets a new version */
async function writeGroup(
  { unit }: ScimDirectory,
  held: Group,
  values: ReturnType<typeof valuesOf>,
  isChanged: boolean,
): Promise<Group> {
  const { membersVersion = 0 } = (held.attributes ?? {}) as { readonly membersVersion?: number };
  const attributes = isChanged ? { attributes: { membersVersion: membersVersion + 1 } } : {};
  return unit.data.update(directoryGroup, held.id, { ...values, ...attributes });
}

/** @returns whether members have changed */
async function patchMembers(directory: ScimDirectory, group: Group, operation: ScimOperation): Promise<boolean> {
  const { op, filter, filteredValue, sub, value } = operation;
  if (sub) throw new ScimError('invalidPath', 'Parts of members cannot be changed; add and remove whole members.');
  if (op === 'remove') return removeMembers(directory, group, await membersMeant(directory, group, operation));
  if (filter && filteredValue === undefined)
    throw new ScimError('invalidPath', 'Members are added and replaced by their value, without another filter.');
  const accountIds = await accountsIn(directory, filteredValue === undefined ? value : [{ value: filteredValue }]);
  if (op === 'add' || filter) return addMembers(directory, group, accountIds);
  // A replacement that names nobody is no order to remove everybody.
  if (accountIds.length === 0) return false;
  return setMembers(directory, group, accountIds);
}

/** Ids of the accounts that a removal means; undefined: all. */
async function membersMeant(
  { unit }: ScimDirectory,
  { id }: Group,
  { filter, filteredValue, value }: ScimOperation,
): Promise<readonly string[] | undefined> {
  if (filteredValue !== undefined) return [filteredValue];
  if (filter) {
    const members = await membersOfGroups(unit, [id]);
    return members
      .map(shownMember(''))
      .filter((one) => matches(filter, one))
      .map(({ value: accountId }) => accountId);
  }
  return value === undefined ? undefined : idsIn(value);
}

function idsIn(members: unknown): string[] {
  const values = (Array.isArray(members) ? members : []) as readonly Resource[];
  return [
    ...new Set(
      values.map(({ value, type }) => {
        if (typeof type === 'string' && type.toLowerCase() === 'group')
          throw new ScimError('invalidValue', 'Groups in groups are not supported.');
        if (typeof value !== 'string' || value === '') throw new ScimError('invalidValue', 'A member has no value.');
        return value;
      }),
    ),
  ];
}

/** @throws ScimError for a member that the directory does not have */
async function accountsIn({ unit, integration }: ScimDirectory, members: unknown): Promise<string[]> {
  const ids = idsIn(members);
  if (ids.length === 0) return [];
  const known = await knownAccounts(unit, integration.id, ids);
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw new ScimError('invalidValue', `The member "${shortened(unknown)}" is no user of this directory.`);
  return ids;
}

async function addMembers({ unit, integration }: ScimDirectory, { id }: Group, accountIds: readonly string[]) {
  const there = new Set((await membershipsOfGroup(unit, id, accountIds)).map(({ accountId }) => accountId));
  const missing = accountIds.filter((accountId) => !there.has(accountId));
  for (let first = 0; first < missing.length; first += chunkSize)
    await unit.data.createAll(
      missing.slice(first, first + chunkSize).map((accountId, index) => ({
        module: directoryMembership,
        input: { organizationId: integration.organizationId, integrationId: integration.id, accountId, groupId: id },
        path: `/members/${first + index}`,
      })),
    );
  return missing.length > 0;
}

/** @param accountIds undefined: all */
async function removeMembers({ unit }: ScimDirectory, { id }: Group, accountIds: readonly string[] | undefined) {
  const ids = (await membershipsOfGroup(unit, id, accountIds)).map((one) => one.id);
  for (let first = 0; first < ids.length; first += chunkSize)
    await unit.data.removeAll(directoryMembership, ids.slice(first, first + chunkSize));
  return ids.length > 0;
}

async function setMembers(directory: ScimDirectory, group: Group, accountIds: readonly string[]): Promise<boolean> {
  const wanted = new Set(accountIds);
  const surplus = (await membershipsOfGroup(directory.unit, group.id)).filter(
    ({ accountId }) => !wanted.has(accountId),
  );
  const isLess =
    surplus.length > 0 &&
    (await removeMembers(
      directory,
      group,
      surplus.map(({ accountId }) => accountId),
    ));
  return (await addMembers(directory, group, accountIds)) || isLess;
}

const shownMember =
  (baseUrl: string) =>
  ({ accountId }: { readonly accountId: string }) => ({
    value: accountId,
    $ref: `${baseUrl}/Users/${accountId}`,
    type: 'User',
  });

/** Groups as they are answered. @param hasMembers whether with their members, of which there may be many */
export async function shownGroups(
  { unit, baseUrl }: ScimDirectory,
  groups: readonly Group[],
  hasMembers: boolean,
): Promise<Resource[]> {
  const ids = groups.map(({ id }) => id);
  const members = Map.groupBy(hasMembers ? await membersOfGroups(unit, ids) : [], ({ groupId }) => groupId);
  return groups.map((group) => {
    const own = members.get(group.id);
    return {
      schemas: [groupSchema.id],
      id: group.id,
      ...(group.reference === null ? {} : { externalId: group.reference }),
      displayName: group.displayName,
      ...(own ? { members: own.map(shownMember(baseUrl)) } : {}),
      meta: metaOf('Group', `${baseUrl}/Groups/${group.id}`, group),
    };
  });
}
