import { Type, type Static } from 'typebox';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { claimedId } from '#entities/kit/base/secrets/one-time-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { unsubscribeRound } from '#entities/organizations/subscriber.ts';
import {
  endSubscription,
  endedOf,
  readSubscription,
  resumeSubscription,
  subscriptionInWords,
} from '../../people/mailed-subscription.ts';
import { workOf } from '../../http/request-context.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { checkLink, linkKey } from '../identity/account/mailed-link.ts';

const purpose = 'unsubscribe';

const token = Type.String({
  minLength: 1,
  maxLength: 200,
  writeOnly: true,
  description: 'Token of the e-mailed link.',
});

const TokenSchema = Type.Object({ token }, { additionalProperties: false });

const common = {
  method: 'POST',
  tag: 'Subscribers',
  access: 'anonymous',
  limitClass: 'flow',
  // It has a transaction of its own.
  runsOnce: true,
} as const;

/** Operation on the subscription of a link, and the message about it. */
type Work<T> = (
  data: DataClient,
  subscription: NonNullable<Awaited<ReturnType<typeof readSubscription>>>,
) => Promise<T>;

/** @returns undefined where the recipient is gone: there is nothing left to end */
async function withSubscription<T>(
  { request, services }: Pick<Call<unknown>, 'request' | 'services'>,
  given: string,
  work: Work<T>,
): Promise<T | undefined> {
  const id = claimedId(purpose, given);
  checkLink(services, purpose, id, unsubscribeRound, given);
  const context = workOf(request.core, systemCaller('unsubscribe'));
  const run = () =>
    services.database.transact(context, async ({ data }) => {
      const subscription = await readSubscription(data, id, linkKey(services));
      return subscription && work(data, subscription);
    });
  // Another request with the link has done it at the same time.
  return run().catch((error: unknown) => {
    if (!isAppError(error) || error.code !== 'already_exists') throw error;
    return run();
  });
}

const nothingLeft = 'The recipient of this e-mail no longer exists; no more e-mails are sent to them.';

/** Recipient of the e-mails, in a sentence. */
function recipientOf({ shownAddress }: { readonly shownAddress: string | null }): string {
  return shownAddress ?? 'the present address of this person';
}

/** “e-mails about tasks that are assigned to you” */
function aboutOf(topics: readonly { readonly name: string }[]): string {
  return topics.length === 0 ? 'e-mails' : `e-mails about ${topics.map(({ name }) => name).join(' and ')}`;
}

/**
 * The server does it itself: nobody has to receive e-mails because an organization is archived. Programs of recipients send the
 * request of RFC 8058: the token in the URL, a form that says so, and nothing else.
 */
export const unsubscribe = defineRoute({
  ...common,
  url: '/v1/unsubscribe',
  operationId: 'unsubscribe',
  summary: 'Unsubscribe',
  // Of the token; without a session there is nothing that another site could misuse.
  verifiesSignature: true,
  description:
    'Ends e-mails about the topics of the e-mail to whose link the token belongs, or all e-mails of its organization to this address, except those about security. No session is needed; the token is in the URL (RFC 8058) or in the body. A repeated request changes nothing and succeeds. POST /v1/unsubscribe/undo undoes it.',
  ignoresForms: true,
  query: Type.Object({ token: Type.Optional(token) }, { additionalProperties: false }),
  body: Type.Object(
    {
      token: Type.Optional(token),
      scope: Type.Optional(
        Type.Enum(['topics', 'organization'], {
          default: 'topics',
          description:
            'E-mails that end: those about the topics of this e-mail, or all of the organization. An e-mail without topics ends all.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema },
  errors: ['invalid_input', 'invalid_token'],
  handle: async (call) => {
    const { query, body } = call;
    const given = body.token ?? (query['token'] as string | undefined);
    if (given === undefined) throw new AppError('invalid_token', 'The token of the link is missing.');
    const message = await withSubscription(call, given, async (data, subscription) => {
      await endSubscription(data, subscription, body.scope ?? 'topics');
      const { organization, topics } = await subscriptionInWords(data, subscription);
      const about = aboutOf(body.scope === 'organization' ? [] : topics);
      return `${organization} sends no more ${about} to ${recipientOf(subscription)}.`;
    });
    return { status: 200, body: { message: message ?? nothingLeft } };
  },
});

const ended = Type.Union([Type.Literal('nothing'), Type.Literal('topics'), Type.Literal('organization')], {
  description: 'E-mails that have ended: none (nothing), those about these topics, or all of the organization.',
});

export const showSubscription = defineRoute({
  ...common,
  url: '/v1/unsubscribe/show',
  operationId: 'showSubscription',
  summary: 'Show what a link to unsubscribe ends',
  description:
    'Shows the address, the organization and the topics of the e-mail to whose link the token belongs. The address is shown only while it is the one to which the e-mail was sent. Changes nothing.',
  body: TokenSchema,
  answers: {
    200: Type.Object({
      message: Type.String({ description: 'E-mails that the link ends or has ended, as a sentence.' }),
      email: Type.Union([Type.String(), Type.Null()], {
        description:
          'Address to which the e-mails go; null when the person has changed their address since the e-mail was sent.',
      }),
      organization: Type.String({ description: 'Name of the organization.' }),
      topics: Type.Array(
        Type.Object({
          topic: Type.String({ description: 'Topic of a notification, or type of e-mail.' }),
          name: Type.String({ description: 'Name of the topic, for people.' }),
        }),
        { description: 'Topics of the e-mail; none: the link ends all e-mails of the organization.' },
      ),
      ended,
    }),
  },
  errors: ['invalid_input', 'invalid_token'],
  handle: async (call: Call<Static<typeof TokenSchema>>) => {
    const shown = await withSubscription(call, call.body.token, async (data, subscription) => {
      const { organization, topics } = await subscriptionInWords(data, subscription);
      const part = await endedOf(data, subscription);
      const about = aboutOf(part === 'organization' ? [] : topics);
      const verb = part === 'nothing' ? 'sends' : 'sends no more';
      return {
        message: `${organization} ${verb} ${about} to ${recipientOf(subscription)}.`,
        email: subscription.shownAddress,
        organization,
        topics,
        ended: part,
      };
    });
    if (!shown) throw new AppError('invalid_token', nothingLeft);
    return { status: 200, body: shown };
  },
});

export const resubscribe = defineRoute({
  ...common,
  url: '/v1/unsubscribe/undo',
  operationId: 'undoUnsubscribe',
  summary: 'Undo an unsubscription',
  description:
    'Resumes e-mails about the topics of the e-mail to whose link the token belongs, even if all e-mails of the organization had been ended with a link. Suppressions for other reasons stay. A repeated request changes nothing and succeeds.',
  body: TokenSchema,
  answers: { 200: MessageSchema },
  errors: ['invalid_input', 'invalid_token'],
  handle: async (call: Call<Static<typeof TokenSchema>>) => {
    const message = await withSubscription(call, call.body.token, async (data, subscription) => {
      await resumeSubscription(data, subscription, call.services.clock.now());
      const { organization, topics } = await subscriptionInWords(data, subscription);
      const part = await endedOf(data, subscription);
      return part === 'nothing'
        ? `${organization} sends ${aboutOf(topics)} to ${recipientOf(subscription)} again.`
        : `${organization} still sends no e-mails to ${recipientOf(subscription)}: the address is suppressed for another reason.`;
    });
    return { status: 200, body: { message: message ?? nothingLeft } };
  },
});
