import { user } from '#entities/identity/user.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SystemMessage } from '#workflows/identity/send-system-message.contract.ts';
import { plainText } from '../clients/chat/chat-message.ts';

/** Ids that one message lists. */
const maxNamed = 20;

/** Current text of a message; undefined when it is no longer true. */
export async function systemMessageText(input: SystemMessage, { data }: UnitOfWork): Promise<string | undefined> {
  switch (input.message) {
    case 'new-user': {
      const person = await data.findOne(user, { id: { eq: input.userId } });
      return person && `New user: ${plainText(person.email)}`;
    }
    case 'listener-held':
      return needed(
        `The listener ${input.listener} fails on everything, and its events wait until it handles one again. ` +
          `See npm run events -- list --listener ${input.listener}`,
      );
    case 'delivery-waiting':
      return needed(
        `The listener ${input.listener} keeps failing on ${input.topic}. ` +
          `Remove the cause, then npm run events -- retry --listener ${input.listener} --reason …`,
      );
    case 'email-refused':
      return needed(
        `The provider of e-mail ${input.carrier} refuses the key, the sender or the account; e-mails wait for another key.`,
      );
    case 'work-failed':
      return needed(`Work of ${input.workflow} has failed for good. See npm run work -- list`);
    case 'organizations-marked': {
      const where = { markedForDeletionAt: { gte: new Date(input.since) }, deletionRequesterId: { isNull: true } };
      const marked = await data.find(organizationSetting, { where, limit: maxNamed + 1 });
      if (marked.length === 0) return undefined;
      const named = marked.slice(0, maxNamed).map(({ organizationId }) => organizationId);
      return plainText(
        `Organizations were marked for deletion, because nobody pays for them: ${named.join(', ')}` +
          `${marked.length > maxNamed ? ' and others' : ''}. See npm run lifecycle -- list`,
      );
    }
    default:
      input satisfies never;
      throw new Error('unknown message');
  }
}

function needed(text: string): string {
  return plainText(`An operator is needed. ${text}`);
}
