import { delegation } from '#entities/identity/delegation.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';

export const endDelegation = defineRoute({
  method: 'POST',
  url: '/v1/delegation/end',
  tag: 'Acting as somebody else',
  summary: 'End acting as somebody else',
  description:
    'Ends the access of the token of the request: it stops working at once. Managers of the organization end that of others with DELETE /v1/delegations/{id}.',
  access: 'required',
  acceptsTokens: true,
  answers: { 200: MessageSchema },
  errors: ['permission_denied'],
  handle: async ({ unit }) => {
    const held = unit.context.caller.delegation;
    if (!held)
      throw new AppError('permission_denied', 'Only whoever acts as somebody else can end it here; send that token.');
    await unit.data.privileged('end delegation').removeAll(delegation, [held.id]);
    return { status: 200, body: { message: 'The access has ended.' } };
  },
});
