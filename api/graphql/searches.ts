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
import { pluralOf } from '#entities/kit/read/relations.ts';
import { usualSize } from '../http/page-slice.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { passthroughField, type FieldConfig, type FieldMap } from './passthrough-field.ts';
import { searchResults, type PageArguments, type SelectionReader } from './selection-reader.ts';

/** What searches need of the schema that is being made. */
export interface SearchParts {
  connectionOf(module: EntityModule): GraphQLObjectType;
  argumentsOf(module: EntityModule): GraphQLFieldConfigArgumentMap;
  /** Reads what an operation selects. */
  readerOf(context: GraphqlContext, info: GraphQLResolveInfo): SelectionReader;
}

const query = {
  type: new GraphQLNonNull(GraphQLString),
  description:
    'Text within one of the fields that are searched, in any case, or an id or a short name; 3 to 200 characters.',
};

/** Searches in each of these kinds, and one in all of them. */
export function searchFields(modules: readonly EntityModule[], parts: SearchParts): FieldMap {
  const results = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: searchResults,
    description: 'What a text finds, by kind.',
    fields: Object.fromEntries(
      modules.map((module) => [pluralOf(module), passthroughField(new GraphQLNonNull(parts.connectionOf(module)))]),
    ),
  });
  const search: FieldConfig = {
    type: new GraphQLNonNull(results),
    description: 'Records of all kinds that are searched.',
    args: { query, first: { type: GraphQLInt, description: `So many of each kind; ${usualSize} when left out.` } },
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
    description: `${module.typeName} records that a text finds.`,
    args: { query, ...parts.argumentsOf(module) },
    resolve: (_source, args: PageArguments & { query: string }, context, info) => {
      const found = { is: 'found', module, text: checked(args.query) } as const;
      return context.unit.data.answers.page(parts.readerOf(context, info).page(module, args, info.fieldNodes, found));
    },
  };
}

/** @throws AppError invalid_input */
function checked(text: string): string {
  if (text.length < 3 || text.length > 200)
    throw new AppError('invalid_input', `A search takes 3 to 200 characters; there are ${text.length}.`);
  if (!isStorable(text)) throw new AppError('invalid_input', 'A search takes text that a record can hold.');
  return text;
}
