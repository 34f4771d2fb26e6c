import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import type { Call, Route } from '../../../http/route.ts';
import { defineScimRoute, type Resource } from './define-scim-route.ts';
import { projected, projectionOf } from './scim-lists.ts';
import { readOperations } from './scim-patch.ts';
import type { Held, ResourceType } from './scim-resource-types.ts';
import { listOf, readSearch } from './scim-search.ts';
import type { ScimDirectory } from './scim-sender.ts';

const text = (description: string) => Type.Optional(Type.String({ maxLength: 4_096, description }));

const projectionQuery = {
  attributes: text('Names of the attributes to answer, separated by commas.'),
  excludedAttributes: text('Names of attributes to leave out, separated by commas.'),
};

const listParameters = {
  ...projectionQuery,
  filter: Type.Optional(Type.String({ maxLength: 16_384, description: 'Filter (RFC 7644, section 3.4.2.2).' })),
  startIndex: text('Number of the first resource, from 1.'),
  count: text('Number of resources, 200 at most.'),
  sortBy: text('Not supported.'),
  sortOrder: text('Not supported.'),
};

/** Routes of one type of resources. */
export function resourceRoutes<Row extends Held>(type: ResourceType<Row>): Route[] {
  const { module, schema, path, names, create, replace, patch, shown } = type;
  const [name, plural] = names;
  const find = async ({ unit, integration }: ScimDirectory, id: string): Promise<Row> => {
    const row = isId(id)
      ? ((await unit.data.findOne(module, { id: { eq: id } })) as unknown as Row | undefined)
      : undefined;
    if (!row || row.integrationId !== integration.id)
      throw new AppError('not_found', `There is no ${schema.name} with the id "${shortened(id)}".`);
    return row;
  };
  const change = async (directory: ScimDirectory, id: string, ifMatch: string | undefined): Promise<Row> => {
    const row = await find(directory, id);
    refuseOtherVersion(row, ifMatch);
    return row;
  };
  const one = async (directory: ScimDirectory, row: Row, query: Call<unknown>['query']): Promise<Resource> => {
    const projection = projectionOf(query);
    const [resource = {}] = await shown(directory, [row], projection);
    return { ...projected(resource, projection), meta: resource['meta'] };
  };
  const list = listOf(type);
  const params = { id: Type.String({ maxLength: 256, description: `Id of the ${name}.` }) };
  return [
    defineScimRoute({
      method: 'GET',
      path,
      operationId: `listScim${plural}`,
      summary: `List the ${plural.toLowerCase()} of a pushed directory`,
      description: 'Answers a page, in the order of creation.',
      query: listParameters,
      errors: ['invalid_input'],
      handle: (directory, { query }) => list(directory, query),
    }),
    defineScimRoute({
      method: 'POST',
      path: `${path}/.search`,
      operationId: `searchScim${plural}`,
      summary: `Search the ${plural.toLowerCase()} of a pushed directory`,
      description: 'The same as the list, with its parameters in the body.',
      hasBody: true,
      errors: ['invalid_input', 'body_too_large'],
      handle: (directory, { body }) => list(directory, readSearch(body)),
    }),
    defineScimRoute({
      method: 'POST',
      path,
      operationId: `createScim${name}`,
      summary: `Create a ${name.toLowerCase()} in a pushed directory`,
      description: `Creates a ${name.toLowerCase()}.`,
      query: projectionQuery,
      hasBody: true,
      status: 201,
      errors: ['invalid_input', 'already_exists', 'body_too_large'],
      handle: async (directory, { body, query }) => one(directory, await create(directory, body), query),
    }),
    defineScimRoute({
      method: 'GET',
      path: `${path}/:id`,
      operationId: `getScim${name}`,
      summary: `Show a ${name.toLowerCase()} of a pushed directory`,
      description: `Answers the ${name.toLowerCase()}.`,
      params,
      query: projectionQuery,
      handle: async (directory, { params: { id = '' }, query }) => one(directory, await find(directory, id), query),
    }),
    defineScimRoute({
      method: 'PUT',
      path: `${path}/:id`,
      operationId: `replaceScim${name}`,
      summary: `Replace a ${name.toLowerCase()} of a pushed directory`,
      description: 'Replaces all attributes that are not set by the server.',
      params,
      query: projectionQuery,
      hasBody: true,
      errors: ['invalid_input', 'already_exists', 'precondition_failed', 'body_too_large'],
      handle: async (directory, { params: { id = '' }, query, body, ifMatch }) =>
        one(directory, await replace(directory, await change(directory, id, ifMatch), body), query),
    }),
    defineScimRoute({
      method: 'PATCH',
      path: `${path}/:id`,
      operationId: `patchScim${name}`,
      summary: `Change a ${name.toLowerCase()} of a pushed directory`,
      description: 'Applies all operations, or none.',
      params,
      query: projectionQuery,
      hasBody: true,
      errors: ['invalid_input', 'already_exists', 'precondition_failed', 'body_too_large'],
      handle: async (directory, { params: { id = '' }, query, body, ifMatch }) =>
        one(
          directory,
          await patch(directory, await change(directory, id, ifMatch), readOperations(schema, body)),
          query,
        ),
    }),
    defineScimRoute({
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: `deleteScim${name}`,
      summary: `Delete a ${name.toLowerCase()} of a pushed directory`,
      description: `Deletes the ${name.toLowerCase()}.`,
      params,
      status: 204,
      errors: ['precondition_failed', 'body_too_large'],
      handle: async (directory, { params: { id = '' }, ifMatch }) => {
        const row = await change(directory, id, ifMatch);
        await directory.unit.data.remove(module, row.id);
        return undefined;
      },
    }),
  ];
}

/** @throws AppError precondition_failed */
function refuseOtherVersion({ recordVersion }: Held, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const wanted = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (wanted.includes(`"${recordVersion}"`)) return;
  throw new AppError('precondition_failed', `The resource has the version W/"${recordVersion}"; read it again.`);
}
