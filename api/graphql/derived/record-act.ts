import { GraphQLID, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Asking } from '../../credentials/asking.ts';
import { capitalized } from '../capitalized.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

interface RecordAct {
  readonly module: EntityModule;
  readonly name: string;
  readonly description: string;
  readonly acceptsTokens?: true;
  /** Description of the argument `id`. */
  readonly about: string;
  readonly act: (asking: Asking, id: string) => Promise<{ readonly id: string }>;
}

/** A mutation that does something with one record, and answers with it. */
export function recordAct({ module, name, description, about, act, acceptsTokens }: RecordAct): HandWrittenField {
  return {
    on: 'Mutation',
    name,
    acceptsSingleSignOn: true,
    ...(acceptsTokens && { acceptsTokens }),
    build: (types) => ({
      type: new GraphQLNonNull(
        new GraphQLObjectType<{ readonly id: string }, GraphqlContext>({
          name: `${capitalized(name)}Payload`,
          fields: {
            [module.kind]: {
              type: new GraphQLNonNull(types.objectOf(module)),
              resolve: ({ id }, _args, context, info) => types.read(module, id, context, info),
            },
          },
        }),
      ),
      description,
      args: { id: { type: new GraphQLNonNull(GraphQLID), description: about } },
      resolve: async (_source, { id }, context) => ({ id: (await act(askingOf(context), id as string)).id }),
    }),
  };
}
