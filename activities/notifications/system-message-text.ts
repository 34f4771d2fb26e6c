import { user } from '#entities/identity/user.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { PersonMessage, SystemMessage } from '#workflows/identity/send-system-message.contract.ts';
import { plainChatText } from '#entities/kit/base/plain-chat-text.ts';

/** Ids that one message lists. */
const maxNamed = 20;

/** Current text of a message; undefined when it is no longer true. */
export async function systemMessageText(
  input: Exclude<SystemMessage, PersonMessage>,
  { data }: UnitOfWork,
): Promise<string | undefined> {
  switch (input.message) {
    case 'new-user': {
      const person = await data.findOne(user, { id: { eq: input.userId } });
      return person && `New user: ${plainChatText(person.email)}`;
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
      return listed(
        'Organizations were marked for deletion, because nobody pays for them',
        marked.map(({ organizationId }) => organizationId),
        'npm run lifecycle -- list',
      );
    }
    case 'organizations-deleted': {
      const where = { createdAt: { gte: new Date(input.since) }, requesterId: { isNull: true } };
      const deleted = await data.find(organizationRemoval, { where, limit: maxNamed + 1 });
      return listed(
        'Organizations were deleted, because nobody has paid for them',
        deleted.map(({ removedOrganizationId }) => removedOrganizationId),
        'npm run lifecycle -- undelete --help',
      );
    }
    default:
      input satisfies never;
      throw new Error('unknown message');
  }
}

/** @returns undefined when there are none */
function listed(what: string, ids: readonly string[], command: string): string | undefined {
  if (ids.length === 0) return undefined;
  const others = ids.length > maxNamed ? ' and others' : '';
  return plainChatText(`${what}: ${ids.slice(0, maxNamed).join(', ')}${others}. See ${command}`);
}

function needed(text: string): string {
  return plainChatText(`An operator is needed. ${text}`);
}
