import { GraphQLID, GraphQLInterfaceType, GraphQLList, GraphQLNonNull, type GraphQLResolveInfo } from 'graphql';
import type { RecordJson, FoundNode } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';
import { malformedIdHint } from '#entities/kit/model/missing-record.ts';
import { isId } from '#entities/kit/base/ids.ts';
import type { GraphqlContext } from './graphql-context.ts';
import type { FieldMap } from './passthrough-field.ts';
import { nodeInterface, type SelectionReader } from './documents/selection-reader.ts';

/** Property with the type name of a record; a symbol, so that it differs from all names in the answer. */
const typeOfNode = Symbol('type');

type Found = RecordJson & { readonly [typeOfNode]: string };

export const Node = new GraphQLInterfaceType({
  name: nodeInterface,
  description: 'A record of any kind.',
  fields: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Unique id, across all kinds.' } },
  resolveType: (source: Found) => source[typeOfNode],
});

/**
 * Look-ups by id alone: one statement looks up the kinds of the ids, a second one reads records of these kinds.
 * @param readerOf reads what an operation selects
 */
export function nodeFields(
  modules: readonly EntityModule[],
  readerOf: (context: GraphqlContext, info: GraphQLResolveInfo) => SelectionReader,
): FieldMap {
  const find = async (
    ids: readonly string[],
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Promise<(Found | null)[]> => {
    const found = await context.unit.data.answers.nodes(
      readerOf(context, info).nodes(modules, ids.length),
      // A malformed id matches no record.
      ids.map((id) => (isId(id) ? id : '')),
    );
    return found.map(asFound);
  };
  return {
    node: {
      type: new GraphQLNonNull(Node),
      description: 'Returns one record of any kind by id.',
      args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' } },
      resolve: async (_source, { id }: { id: string }, context, info) => {
        const [found] = await find([id], context, info);
        if (!found) throw new AppError('not_found', `There is no record "${id}".${malformedIdHint(id)}`);
        return found;
      },
    },
    nodes: {
      type: new GraphQLNonNull(new GraphQLList(Node)),
      description:
        'Returns records of any kinds by id, in the order of the ids; null for ids without a record that the caller can view.',
      args: {
        ids: {
          type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLID))),
          description: 'Ids of the records, up to the largest page size.',
        },
      },
      resolve: async (_source, { ids }: { ids: readonly string[] }, context, info) => {
        const { maxresultlimit } = context.services.config.current.server;
        if (ids.length > maxresultlimit)
          throw limitExceeded(`nodes accepts at most ${maxresultlimit} ids; ${ids.length} were given.`, {
            path: '/ids',
            message: `must have at most ${maxresultlimit} items; it has ${ids.length}`,
          });
        return find(ids, context, info);
      },
    },
  };
}

/** A record with the name of its type. */
export function asFound(node: FoundNode | null): Found | null {
  return node && { ...node.record, [typeOfNode]: node.type };
}
