import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { email } from '#entities/email/email.ts';
import { emailSuppression } from '#entities/email/email-suppression.ts';
import { invite } from '#entities/organizations/invite.ts';
import { subscriber, unsubscribeRound } from '#entities/organizations/subscriber.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { claimedId } from '#entities/kit/base/one-time-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { workOf } from '../../http/request-context.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { checkLink } from '../account/mailed-link.ts';

const purpose = 'unsubscribe';

const token = Type.String({
  minLength: 1,
  maxLength: 200,
  writeOnly: true,
  description: 'Token of the e-mailed link.',
});

/**
 * The server does it itself: nobody has to go on receiving e-mails because an organization is archived. Programs of recipients send the
 * request of RFC 8058: the token in the URL, a form that says so, and nothing else.
 */
export const unsubscribe = defineRoute({
  method: 'POST',
  url: '/v1/unsubscribe',
  operationId: 'unsubscribe',
  tag: 'Subscribers',
  summary: 'Unsubscribe',
  description:
    'For whoever has the token of a link in an e-mail, signed in or not; the token is in the URL (RFC 8058) or in the body. The subscription ends; or, with the token of another e-mail, those of its organization to this address do, except about security. A repeated request changes nothing and succeeds.',
  access: 'anonymous',
  limitClass: 'flow',
  // Of the token; without a session there is nothing that another site could misuse.
  verifiesSignature: true,
  ignoresForms: true,
  query: Type.Object({ token: Type.Optional(token) }, { additionalProperties: false }),
  body: Type.Object({ token: Type.Optional(token) }, { additionalProperties: false }),
  answers: { 200: MessageSchema },
  // It has a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'invalid_token'],
  handle: async ({ request, services, query, body }) => {
    const given = body.token ?? (query['token'] as string | undefined);
    if (given === undefined) throw new AppError('invalid_token', 'The token of the link is missing.');
    const id = claimedId(purpose, given);
    checkLink(services, purpose, id, unsubscribeRound, given);
    const context = workOf(request.core, systemCaller('unsubscribe'));
    const ended = services.database.transact(context, async ({ data }) => {
      const held = await data.findLocked(subscriber, id);
      // There is nothing left to end for one that was deleted.
      if (held && !held.isUnsubscribed) await data.update(subscriber, id, { isUnsubscribed: true });
      const sent = held ? undefined : await data.findOne(email, { id: { eq: id } });
      if (sent) await suppressRecipient(sent, data);
    });
    // Another request with the link has done it at the same time.
    await ended.catch((error: unknown) => {
      if (!isAppError(error) || error.code !== 'already_exists') throw error;
    });
    return { status: 200, body: { message: 'The subscription has ended; no more e-mails are sent to you.' } };
  },
});

/** The address gets no more e-mails of the organization, unless it gets none already. */
async function suppressRecipient(sent: RowOf<typeof email>, data: DataClient): Promise<void> {
  const { organizationId, id } = sent;
  const address = await addressOf(sent, data);
  if (address === undefined) return;
  const where = { organizationId: { eq: organizationId }, suppressedEmail: { eq: address } };
  if (await data.findOne(emailSuppression, where)) return;
  const values = { organizationId, email: address, reason: 'unsubscribed', emailId: id } as const;
  await data.create(emailSuppression, values);
}

/** The address that the e-mail goes to now; undefined when its recipient is deleted. */
async function addressOf({ recipientId, aboutId }: RowOf<typeof email>, data: DataClient): Promise<string | undefined> {
  if (recipientId !== null) return (await data.findOne(user, { id: { eq: recipientId } }))?.email;
  if (aboutId === null) return undefined;
  return (await data.findOne(invite, { id: { eq: aboutId } }))?.recipient;
}
