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
import { searchReach, searchTextDescription, wantedText } from '#entities/kit/read/search-text.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import { defaultPageSize } from '../../http/response/page-slice.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { passthroughField, type FieldConfig, type FieldMap } from '../passthrough-field.ts';
import { searchResults, type PageArguments, type SelectionReader } from '../documents/selection-reader.ts';

/** Parts of the schema being derived that search fields need. */
interface SearchParts {
  connectionOf(module: EntityModule): GraphQLObjectType;
  argumentsOf(module: EntityModule): GraphQLFieldConfigArgumentMap;
  /** Reads the selection of an operation. */
  readerOf(context: GraphqlContext, info: GraphQLResolveInfo): SelectionReader;
}

const query = {
  type: new GraphQLNonNull(GraphQLString),
  description: searchTextDescription,
};

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
    description: `Searches records of all searchable kinds; the best matches of each kind come first. ${searchReach}`,
    args: {
      query,
      first: { type: GraphQLInt, description: `Maximum number of records of each kind. Default: ${defaultPageSize}.` },
    },
    resolve: (_source, args: { query: string; first?: number | null }, context, info) => {
      const text = wantedText(args.query, '/query');
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
    description: `Searches ${module.typeName} records; the best matches come first. ${searchReach}`,
    args: { query, ...parts.argumentsOf(module) },
    resolve: (_source, args: PageArguments & { query: string }, context, info) => {
      const found = wantedText(args.query, '/query');
      return context.unit.data.answers.page(parts.readerOf(context, info).page(module, args, info.fieldNodes, found));
    },
  };
}
