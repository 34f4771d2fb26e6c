import { shortened } from '#entities/kit/base/shortened.ts';
import type { Resource } from './define-scim-route.ts';
import { isDocument } from './scim-documents.ts';
import { ScimError } from './scim-error.ts';
import type { ScimFilter } from './scim-filter.ts';
import { listDocument, listQuery, listResources, projected, projectionOf } from './scim-lists.ts';
import { asksFor } from './scim-matches.ts';
import { groups, users, type Held, type ResourceType } from './scim-resource-types.ts';
import type { ScimDirectory } from './scim-sender.ts';

const searchNames: ReadonlySet<string> = new Set([
  'schemas',
  'attributes',
  'excludedAttributes',
  'filter',
  'sortBy',
  'sortOrder',
  'startIndex',
  'count',
]);

/** The parameters of a search (RFC 7644, section 3.4.3). @throws ScimError for what is none of them */
export function readSearch(body: unknown): Readonly<Record<string, unknown>> {
  if (!isDocument(body)) throw new ScimError('invalidSyntax', 'The body must be a JSON object.');
  const unknown = Object.keys(body).find((name) => !searchNames.has(name));
  if (unknown !== undefined)
    throw new ScimError('invalidSyntax', `"${shortened(unknown)}" is no parameter of a search.`);
  return body;
}

/** Lists the resources of a type. @param query as the parameters say, unless it is given */
export function listOf<Row extends Held>({ module, schema, shown }: ResourceType<Row>) {
  const kind = module.kind as 'directoryAccount' | 'directoryGroup';
  return async (
    directory: ScimDirectory,
    given: Readonly<Record<string, unknown>>,
    query = listQuery(given),
  ): Promise<Resource> => {
    const projection = projectionOf(given);
    const read = async (ids: readonly string[], filter: ScimFilter | undefined) => {
      const rows = (await directory.unit.data.find(module, {
        where: { id: { in: [...ids] } },
        orderBy: [{ field: 'id', direction: 'asc' }],
        limit: ids.length,
      })) as unknown as Row[];
      const isAsked = filter !== undefined && asksFor(filter, 'members');
      return shown(directory, rows, isAsked ? projectionOf({}) : projection);
    };
    const found = await listResources(directory, { kind, schema, read }, query);
    const resources = found['Resources'] as Resource[];
    return { ...found, Resources: resources.map((resource) => projected(resource, projection)) };
  };
}

/** A page of users and, behind them, of groups. */
export async function searchAll(directory: ScimDirectory, given: Readonly<Record<string, unknown>>): Promise<Resource> {
  const { startIndex, count, ...query } = listQuery(given);
  const [ofUsers, ofGroups] = [listOf(users), listOf(groups)];
  const found = await ofUsers(directory, given, { ...query, startIndex, count });
  const resources = found['Resources'] as Resource[];
  const total = found['totalResults'] as number;
  const rest = { ...query, startIndex: Math.max(1, startIndex - total), count: count - resources.length };
  const more = await ofGroups(directory, given, rest).catch((error: unknown) => {
    if (error instanceof ScimError && error.scimType === 'invalidFilter') return undefined;
    throw error;
  });
  const all = [...resources, ...((more?.['Resources'] ?? []) as Resource[])];
  return listDocument(all, total + ((more?.['totalResults'] ?? 0) as number), startIndex);
}
