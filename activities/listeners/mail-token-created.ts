import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';
import { ownersOfOrganization } from './owners-of-organization.ts';

/** Tells whoever is responsible for a token that it has a new secret, so that they notice what was not done by them. */
export const mailTokenCreated = defineListener(
  'mail-token-created',
  [
    on(apiToken, 'created'),
    on(apiToken, 'rotated'),
    on(personalAccessToken, 'created'),
    on(personalAccessToken, 'rotated'),
  ],
  async ({ event: { entityKind, entityId, actor }, unit: { data }, key, start }) => {
    const mail = (userId: string) =>
      start(sendEmailContract, {
        key: `${key}/${userId}`,
        template: 'token-created',
        userId,
        about: { id: entityId, round: 1 },
      });
    if (entityKind === personalAccessToken.topic) {
      // Deleted again before it was announced: its person was the one who acted.
      const held = await data.findOne(personalAccessToken, { id: { eq: entityId } });
      for (const userId of held ? [held.userId] : personIn(actor)) mail(userId);
      return;
    }
    for (const userId of new Set([...(await ownersOfOrganization(data)), ...personIn(actor)])) mail(userId);
  },
);

/** The id of the person who acted, as a list of one, or an empty list. */
function personIn(actor: string): string[] {
  const [kind, id] = actor.split(':');
  return kind === 'user' && id !== undefined ? [id] : [];
}
