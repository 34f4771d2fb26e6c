import { defineDueWork } from '../kit/due-work/define-due-work.ts';
import { carrierPriorities } from './carrier-priorities.ts';
import { waitingSendings } from './waiting-messages.ts';

/** E-mails about one notification. Their workflow reads the notification when it sends, and ends the sending. */
export const sendingsDue = defineDueWork({
  name: 'notification/sendings',
  rows: { ...waitingSendings('email'), columns: ['user_id', 'round', 'is_urgent'] },
  leaseMs: 15 * 60_000,
  workflow: 'sendEmail',
  input: ({ key, owner, user_id: userId, round, is_urgent: isUrgent }) => ({
    key: `notification/${key}/${String(round)}`,
    template: 'notification',
    organizationId: owner,
    userId,
    about: { id: key, round },
    priority: carrierPriorities[isUrgent === true ? 'urgent' : 'notification'],
  }),
  search: ({ owner }) => ({ OrganizationId: [owner] }),
});
