import { subscriber, unsubscribeRound } from '#entities/organizations/subscriber.ts';
import { localInstant } from '#entities/kit/base/localized.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { organizationContents } from './organization-contents.ts';
import { localeOf, organizationName, type Links, type Mail } from './mail.ts';

/** The mail that verifies the address of a subscriber; undefined when its link would not work any more. */
export async function subscriberMail(
  input: SendEmailInput,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: Links,
): Promise<Mail | undefined> {
  const { about } = input;
  const held = about && (await unit.data.findOne(subscriber, { id: { eq: about.id } }));
  if (!held || held.round !== about.round || held.isEmailVerified || held.isUnsubscribed) return undefined;
  if (held.expiresAt === null || held.expiresAt <= unit.clock.now()) return undefined;
  const name = await organizationName(held, unit, 'an organization');
  if (name === undefined) return undefined;
  const verification = oneTimeToken(tokenKey, 'subscriber-verification', held.id, held.round);
  const unsubscription = oneTimeToken(tokenKey, 'unsubscribe', held.id, unsubscribeRound);
  return {
    to: held.email,
    name: undefined,
    content: organizationContents['verify-subscriber'].content({
      name,
      until: localInstant(held.expiresAt, await localeOf(input, unit)),
      url: `${apiUrl}/v1/subscribe/verify#token=${verification}`,
      unsubscribeToken: unsubscription,
    }),
  };
}

/** Records that the mail of a round was sent, once however often it is attempted. */
export async function recordSentVerification({ about }: SendEmailInput, { data }: UnitOfWork): Promise<void> {
  const held = about && (await data.findLocked(subscriber, about.id));
  if (!held || held.sentRound >= about.round) return;
  await data.update(subscriber, held.id, { sentRound: about.round, sendAttempts: held.sendAttempts + 1 });
}
