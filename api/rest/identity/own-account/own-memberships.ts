import { Type } from 'typebox';
import { membership } from '#entities/organizations/membership.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { Filter } from '#entities/kit/read/filter.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { listQuerySchema, listSelection } from '../../records/list-query.ts';
import { listedSchema, pageSchema } from '../../records/record-pages.ts';
import { selectionOf } from '../../records/record-selection.ts';
import { recordSchema } from '../../records/record-schema.ts';

/** GraphQL has it as `self { memberships }`. */
export function ownMemberships(registry: Registry): Route {
  const { view: _view, ...query } = listQuerySchema(registry, membership).properties;
  return defineRoute({
    method: 'GET',
    url: '/v1/account/memberships',
    operationId: 'listOwnMemberships',
    tag: 'Account',
    summary: 'List own memberships',
    description:
      'Lists the memberships of the user in all organizations, in pages; /v1/memberships lists those of the current organization, of all its members.',
    access: 'required',
    query: Type.Object(query, { additionalProperties: false }),
    answers: { 200: pageSchema(membership, listedSchema(membership, recordSchema(membership))) },
    errors: ['invalid_input', 'invalid_cursor', 'limit_exceeded'],
    handle: async (call) => {
      const { userId } = signedInPerson(call);
      const { maxresultlimit } = call.services.config.current.server;
      const page = listSelection(registry, selectionOf(registry, membership), call.query, maxresultlimit);
      const own: Filter = { is: 'field', field: 'userId', comparison: { eq: userId } };
      const filter: Filter = page.filter ? { is: 'and', filters: [own, page.filter] } : own;
      return {
        status: 200,
        json: await call.unit.data.answers.singleStatementPage({ ...page, filter, isEverywhere: true }),
      };
    },
  });
}
