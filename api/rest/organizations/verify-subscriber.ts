import { Type } from 'typebox';
import { organization } from '#entities/organizations/organization.ts';
import { subscriber } from '#entities/organizations/subscriber.ts';
import { claimedId, invalidToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { renewVerification } from '../../people/subscriber-verification.ts';
import { checkLink } from '../identity/account/mailed-link.ts';

const purpose = 'subscriber-verification';

export const verifySubscriber = defineRoute({
  method: 'POST',
  url: '/v1/subscribe/verify',
  operationId: 'verifySubscriber',
  tag: 'Subscribers',
  summary: 'Verify the address of a subscriber',
  description:
    'For the holder of the token of the e-mailed link, signed in or not. The subscriber is active from then on, and the token stops working. If the link has expired, a new one is sent instead, as long as there are attempts left.',
  access: 'public',
  limitClass: 'flow',
  body: Type.Object(
    {
      token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
    },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema, 202: MessageSchema },
  errors: ['invalid_input', 'invalid_token', 'limit_exceeded'],
  handle: async ({ unit, services, body: { token } }) => {
    const data = unit.data.privileged('verify subscriber');
    const id = claimedId(purpose, token);
    const held = await data.findLocked(subscriber, id);
    // Compared for unknown ids, too.
    checkLink(services, purpose, id, held?.round ?? 1, token);
    const home = held && (await data.findOne(organization, { id: { eq: held.organizationId } }));
    if (!held || !home || held.isEmailVerified || held.isUnsubscribed) throw invalidToken(purpose);
    if (held.expiresAt !== null && held.expiresAt <= services.clock.now()) {
      await renewVerification(unit, data, held, '/token');
      return { status: 202, body: { message: 'This link has expired; an e-mail with a new one is sent to you.' } };
    }
    await data.update(subscriber, id, { isEmailVerified: true, isActive: true });
    return { status: 200, body: { message: 'The address is verified; the subscription has begun.' } };
  },
});
