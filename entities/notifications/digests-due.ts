import { defineDueWork } from '../kit/due-work/define-due-work.ts';
import { carrierPriorities } from './carrier-priorities.ts';
import { waitingDigests } from './waiting-messages.ts';

/** E-mails of digests. Their workflow reads the digest when it sends, and ends it. */
export const digestsDue = defineDueWork({
  name: 'notification/digests',
  rows: { ...waitingDigests('email'), columns: ['user_id', 'round'] },
  leaseMs: 15 * 60_000,
  workflow: 'sendEmail',
  input: ({ key, owner, user_id: userId, round }) => ({
    key: `digest/${key}/${String(round)}`,
    template: 'digest',
    priority: carrierPriorities['digest'],
    organizationId: owner,
    userId,
    about: { id: key, round },
  }),
  search: ({ owner }) => ({ OrganizationId: [owner] }),
});
