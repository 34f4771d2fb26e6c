import { directoryAccount } from '#entities/integrations/directory-account.ts';
import { directoryPage, groupsOfAccounts } from '#entities/integrations/directory-page-rows.ts';
import { parseEmail } from '#entities/kit/base/email-address.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { ChangesOf, RowOf } from '#entities/kit/model/define.ts';
import { ScimError } from './scim-error.ts';
import { isDocument, readResource } from './scim-documents.ts';
import { applyOperation, type ScimOperation } from './scim-patch.ts';
import { enterpriseSchema, userSchema } from './scim-schemas.ts';
import type { ScimDirectory } from './scim-sender.ts';

type Account = RowOf<typeof directoryAccount>;
type Resource = Record<string, unknown>;

/** Largest document of a user: the attributes as they were written. */
const maxBytes = 16_384;

/** @throws ScimError uniqueness */
export async function createUser(directory: ScimDirectory, body: unknown): Promise<Account> {
  const { unit, integration } = directory;
  const resource = readResource(userSchema, body);
  const values = valuesOf(resource);
  await refuseTaken(directory, values.userName);
  return unit.data.create(directoryAccount, {
    organizationId: integration.organizationId,
    integrationId: integration.id,
    externalId: newId(),
    ...values,
  });
}

export async function replaceUser(directory: ScimDirectory, held: Account, body: unknown): Promise<Account> {
  return writeUser(directory, held, readResource(userSchema, body));
}

export async function patchUser(
  directory: ScimDirectory,
  held: Account,
  operations: readonly ScimOperation[],
): Promise<Account> {
  const resource = structuredClone(resourceOf(held));
  for (const operation of operations) applyOperation(resource, operation);
  return writeUser(directory, held, resource);
}

async function writeUser(directory: ScimDirectory, held: Account, resource: Resource): Promise<Account> {
  const values = valuesOf(resource);
  if (values.userName.toLowerCase() !== held.userName?.toLowerCase()) await refuseTaken(directory, values.userName);
  return directory.unit.data.update(directoryAccount, held.id, values satisfies ChangesOf<typeof directoryAccount>);
}

/** The fields of an account that follow from a resource, and the resource itself. @throws ScimError */
function valuesOf(resource: Resource) {
  const { userName } = resource;
  if (typeof userName !== 'string' || userName.trim() === '')
    throw new ScimError('invalidValue', '"userName" is required and must not be empty.');
  if (Buffer.byteLength(JSON.stringify(resource)) > maxBytes)
    throw new ScimError('tooMany', `The attributes of a user have at most ${maxBytes} bytes.`);
  const name = isDocument(resource['name']) ? resource['name'] : {};
  return {
    userName: limited(userName, 'userName', 256),
    email: emailOf(resource),
    displayName: shown(resource['displayName'] ?? name['formatted']),
    givenName: shown(name['givenName']),
    familyName: shown(name['familyName']),
    isActive: resource['active'] !== false,
    reference: limitedOrNull(resource['externalId'], 'externalId', 255),
    attributes: resource,
  };
}

/** The primary address, else the first one, else a name that is an address. */
function emailOf(resource: Resource): string | null {
  const emails = Array.isArray(resource['emails']) ? (resource['emails'] as readonly Resource[]) : [];
  const primary = emails.find((one) => one['primary'] === true) ?? emails[0];
  const texts = [primary?.['value'], resource['userName']].filter((one) => typeof one === 'string');
  for (const text of texts) {
    const address = parseEmail(text)?.address;
    if (address !== undefined && address.length <= 254) return address;
  }
  return null;
}

function limited(value: string, name: string, max: number): string {
  if (value.length > max) throw new ScimError('invalidValue', `"${name}" has more than ${max} characters.`);
  return value;
}

function limitedOrNull(value: unknown, name: string, max: number): string | null {
  return typeof value === 'string' && value !== '' ? limited(value, name, max) : null;
}

/** The document has the whole text. */
function shown(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, 256) : null;
}

async function refuseTaken({ unit, integration }: ScimDirectory, userName: string): Promise<void> {
  const { ids } = await directoryPage(unit, {
    kind: 'directoryAccount',
    integrationId: integration.id,
    only: { by: 'name', value: userName },
    offset: 0,
    limit: 1,
  });
  if (ids.length > 0)
    throw new ScimError('uniqueness', `The directory has a user with the userName "${userName}".`, 'already_exists');
}

/** The resource as it was last written. */
export function resourceOf(account: Account): Resource {
  return (account.attributes ?? {}) as Resource;
}

/** Users as they are answered. */
export async function shownUsers({ unit, baseUrl }: ScimDirectory, accounts: readonly Account[]): Promise<Resource[]> {
  const groups = Map.groupBy(
    await groupsOfAccounts(
      unit,
      accounts.map(({ id }) => id),
    ),
    ({ accountId }) => accountId,
  );
  return accounts.map((account) => {
    const resource = resourceOf(account);
    const own = groups.get(account.id)?.map(({ groupId, displayName }) => ({
      value: groupId,
      $ref: `${baseUrl}/Groups/${groupId}`,
      ...(displayName === null ? {} : { display: displayName }),
      type: 'direct',
    }));
    const hasExtension = resource[enterpriseSchema.id] !== undefined;
    return {
      schemas: [userSchema.id, ...(hasExtension ? [enterpriseSchema.id] : [])],
      id: account.id,
      ...resource,
      ...(own ? { groups: own } : {}),
      meta: metaOf('User', `${baseUrl}/Users/${account.id}`, account),
    };
  });
}

/** Facts about a resource. The version is its entity tag. */
export function metaOf(
  resourceType: string,
  location: string,
  row: { readonly createdAt: Date; readonly updatedAt: Date; readonly recordVersion: number },
) {
  return {
    resourceType,
    created: row.createdAt.toISOString(),
    lastModified: row.updatedAt.toISOString(),
    location,
    version: `W/"${row.recordVersion}"`,
  };
}
