import { Type } from 'typebox';
import { subscriber, unsubscribeRound } from '#entities/organizations/subscriber.ts';
import { claimedId } from '#entities/kit/base/one-time-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { workOf } from '../../http/request-context.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { checkLink } from '../account/mailed-link.ts';

const purpose = 'unsubscribe';

/** The server does it itself: nobody has to go on receiving e-mails because an organization is archived. */
export const unsubscribe = defineRoute({
  method: 'POST',
  url: '/v1/unsubscribe',
  tag: 'Subscribers',
  summary: 'Unsubscribe',
  description:
    'For whoever has the token of a link at the end of an e-mail, signed in or not. The subscription ends; a repeated request changes nothing and succeeds.',
  access: 'public',
  body: Type.Object(
    {
      token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
    },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema },
  // It has a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'invalid_token'],
  handle: async ({ request, services, body: { token } }) => {
    const id = claimedId(purpose, token);
    checkLink(services, purpose, id, unsubscribeRound, token);
    await services.database.transact(workOf(request.core, systemCaller('unsubscribe')), async ({ data }) => {
      const held = await data.findLocked(subscriber, id);
      // There is nothing left to end for one that was deleted.
      if (held && !held.isUnsubscribed) await data.update(subscriber, id, { isUnsubscribed: true });
    });
    return { status: 200, body: { message: 'The subscription has ended; no more e-mails are sent to you.' } };
  },
});
