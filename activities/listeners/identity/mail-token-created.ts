import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from '../listener.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import { mailAboutRecord, mailPeopleInCharge } from '../people-in-charge.ts';

/** Notifies the person responsible for a token that it has a new secret, so that they notice changes that they did not make. */
export const mailTokenCreated = defineListener(
  'mail-token-created',
  [
    on(apiToken, 'created'),
    on(apiToken, 'rotated'),
    on(personalAccessToken, 'created'),
    on(personalAccessToken, 'rotated'),
  ],
  async (delivery) => {
    const { entityKind, entityId, actor, topic } = delivery.event;
    const template = topic.endsWith('.rotated') ? 'token-rotated' : 'token-created';
    if (entityKind !== personalAccessToken.topic) return mailPeopleInCharge(delivery, template);
    // Deleted again before it was announced: its person was the one who acted.
    const held = await delivery.unit.data.findOne(personalAccessToken, { id: { eq: entityId } });
    for (const userId of held ? [held.userId] : personIn(actor)) mailAboutRecord(delivery, template, userId);
  },
);

/** A token that reaches more than before is reported like a new one. */
export const mailTokenAuthorized = defineListener(
  'mail-token-authorized',
  [on(personalAccessToken, 'authorized')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'token-authorized', userId: event.payload.userId });
  },
);
