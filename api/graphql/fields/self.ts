import { user } from '#entities/identity/user.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

export const self: HandWrittenField = {
  on: 'Query',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  name: 'self',
  build: (types) => ({
    type: types.objectOf(user),
    description: 'The user who sends the request; null if the caller is not a user.',
    resolve: (_source, _args, context, info) => {
      const { kind, subjectId } = context.unit.context.caller;
      return kind === 'user' && subjectId !== null ? types.read(user, subjectId, context, info) : null;
    },
  }),
};
