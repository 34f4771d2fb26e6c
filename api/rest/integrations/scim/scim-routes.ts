import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import type { Route } from '../../../http/route.ts';
import { defineScimRoute, type Resource } from './define-scim-route.ts';
import { resourceRoutes } from './scim-resource-routes.ts';
import { groups, users } from './scim-resource-types.ts';
import { readSearch, searchAll } from './scim-search.ts';
import { resourceTypes, schemas, serviceProviderConfig, shownSchema, wholeList } from './scim-service.ts';

/** One document of a fixed list, or all. */
function serviceRoutes(
  path: string,
  operation: string,
  what: string,
  documents: (baseUrl: string) => readonly Resource[],
): Route[] {
  return [
    defineScimRoute({
      method: 'GET',
      path,
      operationId: `listScim${operation}`,
      summary: `List the ${what} of a pushed directory`,
      description: 'Answers all of them.',
      handle: ({ baseUrl }) => Promise.resolve(wholeList(documents(baseUrl))),
    }),
    defineScimRoute({
      method: 'GET',
      path: `${path}/:id`,
      operationId: `getScim${operation.replace(/s$/, '')}`,
      summary: `Show one of the ${what} of a pushed directory`,
      description: 'Answers one of them.',
      params: { id: Type.String({ maxLength: 256, description: 'Id of the document.' }) },
      handle: ({ baseUrl }, { params: { id = '' } }) => {
        const found = documents(baseUrl).find((one) => String(one['id']).toLowerCase() === id.toLowerCase());
        if (!found) throw new AppError('not_found', `"${shortened(id)}" is none of the ${what}.`);
        return Promise.resolve(found);
      },
    }),
  ];
}

/** SCIM 2.0 for identity providers that push their directory (RFC 7643, RFC 7644). */
export const scimRoutes: readonly Route[] = [
  defineScimRoute({
    method: 'POST',
    path: '/.search',
    operationId: 'searchScimResources',
    summary: 'Search the users and groups of a pushed directory',
    description:
      'Answers users, then groups, that the filter finds. A filter over attributes that groups do not have finds users only.',
    hasBody: true,
    errors: ['invalid_input', 'body_too_large'],
    handle: (directory, { body }) => searchAll(directory, readSearch(body)),
  }),
  defineScimRoute({
    method: 'GET',
    path: '/ServiceProviderConfig',
    operationId: 'getScimServiceProviderConfig',
    summary: 'Show what the SCIM service supports',
    description: 'Answers the configuration of the service.',
    handle: ({ baseUrl }) => Promise.resolve(serviceProviderConfig(baseUrl)),
  }),
  ...serviceRoutes('/Schemas', 'Schemas', 'schemas', (baseUrl) => schemas.map((one) => shownSchema(one, baseUrl))),
  ...serviceRoutes('/ResourceTypes', 'ResourceTypes', 'types of resources', resourceTypes),
  ...resourceRoutes(users),
  ...resourceRoutes(groups),
];
