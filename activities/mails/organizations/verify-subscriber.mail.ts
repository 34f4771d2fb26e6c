import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { on } from '#entities/kit/model/events.ts';
import { subscriber, unsubscribeRound } from '#entities/organizations/subscriber.ts';
import { defineMail, sample } from '../define-mail.ts';
import { isBeyondMailLimit } from '../mail-limit.ts';
import { organizationName } from '../shown-name.ts';

/** The link that verifies a subscriber. Anybody with an organization can enter any address, so the mails are limited; the others are not sent. */
export const verifySubscriberMail = defineMail('verify-subscriber', {
  listener: 'mail-subscriber',
  follows: [on(subscriber, 'created'), on(subscriber, 'resent')],
  audience: async ({ event, unit }) => {
    const held = await unit.data.findOne(subscriber, { id: { eq: event.entityId } });
    const round = 'round' in event.payload ? event.payload.round : 1;
    // Verified, ended or sent again since.
    if (!held || held.isEmailVerified || held.isUnsubscribed || held.round !== round) return [];
    const { organizationId } = held;
    if (await isBeyondMailLimit(unit, 'subscription', { email: held.email, organizationId })) return [];
    return [{ organizationId, about: { id: held.id, round } }];
  },
  priority: 3,
  about: subscriber,
  to: ({ email }) => email,
  values: async ({ record, input, unit, links, link, instant }) => {
    const { id, round, expiresAt, isEmailVerified, isUnsubscribed } = record;
    if (round !== input.about?.round || isEmailVerified || isUnsubscribed) return undefined;
    if (expiresAt === null || expiresAt <= unit.clock.now()) return undefined;
    const name = await organizationName(record, unit, 'an organization');
    if (name === undefined) return undefined;
    return {
      name,
      until: await instant(expiresAt),
      url: link('/v1/subscribe/verify', 'subscriber-verification'),
      // It ends all e-mails of the organization.
      unsubscribeToken: oneTimeToken(links.tokenKey, 'unsubscribe', id, unsubscribeRound),
    };
  },
  text: ({ name, until, url, unsubscribeToken }) => ({
    subject: 'Confirm your subscription',
    paragraphs: [
      `This address was entered to receive e-mails from ${name}. It receives none until you confirm.`,
      `The link works until ${until}. If you do not want these e-mails, ignore this one, or unsubscribe.`,
    ],
    action: { text: 'Confirm the subscription', url },
    unsubscribeToken,
  }),
  sample: {
    name: sample.organization,
    until: sample.until,
    url: sample.url,
    unsubscribeToken: sample.unsubscribeToken,
  },
  onSent: async ({ id, round }, { data }) => {
    const held = await data.findLocked(subscriber, id);
    if (!held || held.sentRound >= round) return;
    await data.update(subscriber, held.id, { sentRound: round, sendAttempts: held.sendAttempts + 1 });
  },
});
