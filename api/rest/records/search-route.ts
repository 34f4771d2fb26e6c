import { Type } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { DownloadBases } from '#entities/kit/read/file-selection.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import { searchReach } from '#entities/kit/read/search-text.ts';
import { defaultPageSize } from '../../http/response/page-slice.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { wantedText } from '#entities/kit/read/search-text.ts';
import { foundSelection, listedSchema, pageSchema, searchText } from './record-pages.ts';
import { selectionOf } from './record-selection.ts';
import { recordSchema } from './record-schema.ts';

/** Searches all kinds at once, as the field `search` of GraphQL does. */
export function searchRoute(registry: Registry, bases: DownloadBases): Route {
  const kinds = registry.modules
    .filter((module) => isExposed(module) && module.search)
    .map((module) => ({ name: snakeCase(pluralOf(module)), module, record: selectionOf(registry, module, bases) }));
  const names = kinds.map(({ name }) => name);
  return defineRoute({
    method: 'GET',
    url: '/v1/search',
    operationId: 'search',
    tag: 'Search',
    summary: 'Search all records',
    description: `Returns a page of each kind, the best records first. For the pages that follow, send \`search\` to the list of the kind. ${searchReach}`,
    access: 'required',
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    query: Type.Object(
      {
        query: searchText,
        kinds: Type.Optional(
          Type.Unsafe<string[]>({
            type: 'array',
            items: { enum: names },
            minItems: 1,
            maxItems: names.length,
            description:
              'Kinds to search; without it, all. Repeat the parameter for several kinds, or separate them by commas.',
          }),
        ),
        first: Type.Optional(
          Type.Integer({ description: `Maximum number of records of each kind. Without it: ${defaultPageSize}.` }),
        ),
      },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object(
        Object.fromEntries(
          kinds.map(({ name, module }) => [
            name,
            Type.Optional(pageSchema(module, listedSchema(module, recordSchema(module)))),
          ]),
        ),
        { title: 'FoundRecords', description: 'A page of results for each kind that was searched.' },
      ),
    },
    errors: ['invalid_input', 'limit_exceeded', 'no_current_organization'],
    handle: async ({ unit, query, services }) => {
      const { maxresultlimit } = services.config.current.server;
      const text = wantedText(query['query'] as string, '/query');
      const slice = query['first'] === undefined ? {} : { first: query['first'] as number };
      const wanted = (query['kinds'] ?? names) as readonly string[];
      const parts = kinds
        .filter(({ name }) => wanted.includes(name))
        .map(
          ({ name, record }) =>
            ({ is: 'page', as: name, page: foundSelection(record, text, slice, maxresultlimit) }) as const,
        );
      return { status: 200, body: await unit.data.answers.lists(parts) };
    },
  });
}
