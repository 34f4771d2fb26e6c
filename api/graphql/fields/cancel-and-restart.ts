import { GraphQLID, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { steerings, transferKinds } from '../../transfers/steer-transfer.ts';
import { capitalized } from '../capitalized.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

/** Hand-written, because which changes are possible depends on how far the work is. */
export const transferFields: readonly HandWrittenField[] = transferKinds.flatMap((kind) =>
  steerings.map(({ verb, description, run }): HandWrittenField => {
    const name = `${verb}${kind.typeName}`;
    return {
      on: 'Mutation',
      name,
      acceptsSingleSignOn: true,
      build: (types) => ({
        type: new GraphQLNonNull(
          new GraphQLObjectType<RecordJson, GraphqlContext>({
            name: `${capitalized(name)}Payload`,
            fields: {
              [kind.kind]: {
                type: new GraphQLNonNull(types.objectOf(kind)),
                resolve: (source, _args, context, info) => types.read(kind, source['id'] as string, context, info),
              },
            },
          }),
        ),
        description: description(kind.kind),
        args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' } },
        resolve: async (_source, args: { id: string }, { unit }) => {
          const id = existingId(kind, args.id);
          await run(unit, kind, id);
          return { id };
        },
      }),
    };
  }),
);
