import { directoryPage, type DirectoryPage } from '#entities/integrations/directory-page-rows.ts';
import { ScimError } from './scim-error.ts';
import { parseFilter, type ScimFilter } from './scim-filter.ts';
import { matches } from './scim-matches.ts';
import type { ScimSchema } from './scim-schemas.ts';
import type { ScimDirectory } from './scim-sender.ts';

type Resource = Record<string, unknown>;

export const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Resources of a page: as many as asked for, and at most. */
export const [defaultCount, maxCount] = [100, 200];

/** Resources that are read at once while a filter is applied to all. */
const batchSize = 500;

export interface ListQuery {
  readonly filter?: string;
  readonly startIndex: number;
  readonly count: number;
}

/** Parameters of a list or a search. Values below the smallest one mean that one (RFC 7644, section 3.4.2.4). */
export function listQuery(given: Readonly<Record<string, unknown>>): ListQuery {
  const { filter = '', sortBy } = given;
  if (typeof filter !== 'string') throw new ScimError('invalidFilter', 'The filter must be one text.');
  if (sortBy !== undefined) throw new ScimError('invalidValue', 'Sorting is not supported; leave out "sortBy".');
  return {
    ...(filter.trim() !== '' ? { filter: filter.trim() } : {}),
    startIndex: Math.max(1, integerIn(given, 'startIndex', 1)),
    count: Math.min(maxCount, Math.max(0, integerIn(given, 'count', defaultCount))),
  };
}

function integerIn(given: Readonly<Record<string, unknown>>, name: string, otherwise: number): number {
  const value = given[name];
  if (value === undefined || value === '') return otherwise;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    throw new ScimError('invalidValue', `"${name}" must be a whole number.`);
  return number;
}

interface Listing {
  readonly kind: DirectoryPage['kind'];
  readonly schema: ScimSchema;
  /** The resources with these ids, in their order, with the attributes that the filter asks for. */
  readonly read: (ids: readonly string[], filter: ScimFilter | undefined) => Promise<Resource[]>;
}

/** A page of the resources that a filter finds, in the order of their creation. */
export async function listResources(
  { unit, integration }: ScimDirectory,
  { kind, schema, read }: Listing,
  { filter: text, startIndex, count }: ListQuery,
): Promise<Resource> {
  const filter = text === undefined ? undefined : parseFilter(schema, text);
  const of = { kind, integrationId: integration.id };
  const only = filter && soleEquation(filter);
  if (!filter || only) {
    const { ids, total } = await directoryPage(unit, {
      ...of,
      ...(only ? { only } : {}),
      offset: startIndex - 1,
      limit: count,
    });
    return listDocument(ids.length > 0 ? await read(ids, undefined) : [], total, startIndex);
  }
  const page: Resource[] = [];
  let total = 0;
  for (let offset = 0; ; offset += batchSize) {
    const { ids } = await directoryPage(unit, { ...of, offset, limit: batchSize });
    for (const resource of ids.length > 0 ? await read(ids, filter) : []) {
      if (!matches(filter, resource)) continue;
      total++;
      if (total >= startIndex && page.length < count) page.push(resource);
    }
    if (ids.length < batchSize) return listDocument(page, total, startIndex);
  }
}

/** Identity providers mostly ask for one resource by its name or id. */
function soleEquation(filter: ScimFilter): DirectoryPage['only'] {
  if (filter.op !== 'eq' || typeof filter.value !== 'string') return undefined;
  const by = ({ id: 'id', externalId: 'reference', userName: 'name', displayName: undefined } as const)[
    filter.path.join('.')
  ];
  return by === undefined ? undefined : { by, value: filter.value };
}

export function listDocument(resources: readonly Resource[], total: number, startIndex: number): Resource {
  return {
    schemas: [listSchema],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** Attributes that a request asks for, or asks to leave out (RFC 7644, section 3.9). */
export interface Projection {
  readonly attributes: readonly string[];
  readonly excluded: readonly string[];
}

export function projectionOf(given: Readonly<Record<string, unknown>>): Projection {
  const listOf = (name: string) => {
    const value = given[name];
    const texts = Array.isArray(value)
      ? value.filter((one) => typeof one === 'string')
      : typeof value === 'string'
        ? value.split(',')
        : [];
    return texts.map((text) => text.trim().toLowerCase()).filter(Boolean);
  };
  return { attributes: listOf('attributes'), excluded: listOf('excludedAttributes') };
}

/** Whether an attribute is to be answered. */
export function includes({ attributes, excluded }: Projection, name: string): boolean {
  const lower = name.toLowerCase();
  if (alwaysShown.has(lower)) return true;
  const isNamed = (list: readonly string[]) =>
    list.some((one) =>
      [one, one.split(':').at(-1) ?? one].some((form) => form === lower || form.startsWith(`${lower}.`)),
    );
  if (attributes.length > 0) return isNamed(attributes);
  return !excluded.some((one) => one === lower || one.split(':').at(-1) === lower);
}

const alwaysShown: ReadonlySet<string> = new Set(['schemas', 'id']);

export function projected(resource: Resource, projection: Projection): Resource {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => includes(projection, name)));
}
