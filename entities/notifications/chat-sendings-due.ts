import { defineDueWork } from '../kit/due-work/define-due-work.ts';
import { waitingSendings } from './waiting-messages.ts';

/** Messages about one notification in the chat of an organization. Their workflow reads the notification when it sends, and ends the sending. */
export const chatSendingsDue = defineDueWork({
  name: 'notification/chat-sendings',
  rows: { ...waitingSendings('chat'), columns: ['user_id', 'round'] },
  leaseMs: 15 * 60_000,
  workflow: 'sendSystemMessage',
  input: ({ key, owner, round }) => ({
    key: `notification/${key}/${String(round)}`,
    about: { message: 'notification', organizationId: owner, id: key, round },
  }),
  search: ({ owner }) => ({ OrganizationId: [owner] }),
});
