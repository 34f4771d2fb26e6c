import { defineDueWork } from '../kit/due-work/define-due-work.ts';
import { waitingDigests } from './waiting-messages.ts';

/** Messages of digests in the chat of an organization. Their workflow reads the digest when it sends, and ends it. */
export const chatDigestsDue = defineDueWork({
  name: 'notification/chat-digests',
  rows: { ...waitingDigests('chat'), columns: ['user_id', 'round'] },
  leaseMs: 15 * 60_000,
  workflow: 'sendSystemMessage',
  input: ({ key, owner, round }) => ({
    key: `digest/${key}/${String(round)}`,
    about: { message: 'digest', organizationId: owner, id: key, round },
  }),
  search: ({ owner }) => ({ OrganizationId: [owner] }),
});
