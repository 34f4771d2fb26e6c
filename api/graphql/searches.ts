import {
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLResolveInfo,
} from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isStorable } from '#entities/kit/model/input.ts';
import { maxFound } from '#entities/kit/base/max-found.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import { defaultPageSize } from '../http/page-slice.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { passthroughField, type FieldConfig, type FieldMap } from './passthrough-field.ts';
import { searchResults, type PageArguments, type SelectionReader } from './selection-reader.ts';

/** What search fields need of the schema being derived. */
export interface SearchParts {
  connectionOf(module: EntityModule): GraphQLObjectType;
  argumentsOf(module: EntityModule): GraphQLFieldConfigArgumentMap;
  /** Reads the selection of an operation. */
  readerOf(context: GraphqlContext, info: GraphQLResolveInfo): SelectionReader;
}

const query = {
  type: new GraphQLNonNull(GraphQLString),
  description:
    'Search text of 3 to 200 characters: words in any form, of which the last may be incomplete; part of a searched field; or an id or a display id. Case does not matter. If nothing has these words, records with similar words are found.',
};

/** Which records the caller may view is decided afterwards (search-function.ts). */
const reach = `Of the records of the organization, at most ${maxFound} that have the words and ${maxFound} that contain the text are looked at, also ones that the caller may not view. Where so many match, search for rarer words, or filter a list, which looks at all records (\`where\` with \`contains\`).`;

/** One search field for each of these kinds, and one for all of them. */
export function searchFields(modules: readonly EntityModule[], parts: SearchParts): FieldMap {
  const results = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: searchResults,
    description: 'Search results by kind.',
    fields: Object.fromEntries(
      modules.map((module) => [
        pluralOf(module),
        passthroughField(new GraphQLNonNull(parts.connectionOf(module)), `Found ${module.typeName} records.`),
      ]),
    ),
  });
  const search: FieldConfig = {
    type: new GraphQLNonNull(results),
    description: `Searches records of all searchable kinds; the best of each kind come first. ${reach}`,
    args: {
      query,
      first: { type: GraphQLInt, description: `Maximum number of records of each kind. Default: ${defaultPageSize}.` },
    },
    resolve: (_source, args: { query: string; first?: number | null }, context, info) => {
      const text = checked(args.query);
      return context.unit.data.answers.lists(
        parts.readerOf(context, info).searches(modules, text, args.first ?? undefined),
      );
    },
  };
  return {
    ...Object.fromEntries(modules.map((module) => [`${module.kind}Search`, searchField(module, parts)])),
    search,
  };
}

function searchField(module: EntityModule, parts: SearchParts): FieldConfig {
  return {
    type: new GraphQLNonNull(parts.connectionOf(module)),
    description: `Searches ${module.typeName} records; the best come first. ${reach}`,
    args: { query, ...parts.argumentsOf(module) },
    resolve: (_source, args: PageArguments & { query: string }, context, info) => {
      const found = checked(args.query);
      return context.unit.data.answers.page(parts.readerOf(context, info).page(module, args, info.fieldNodes, found));
    },
  };
}

/** @throws AppError invalid_input */
function checked(text: string): string {
  if (text.length < 3 || text.length > 200)
    throw new AppError('invalid_input', `The search text must have 3 to 200 characters; it has ${text.length}.`);
  if (!isStorable(text))
    throw new AppError('invalid_input', 'The search text contains characters that no record can contain.');
  return text;
}
