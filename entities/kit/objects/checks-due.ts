import { organizationOrNone } from '../due-work/due-rows.ts';
import { defineDueWork } from '../due-work/define-due-work.ts';

/** Checks of uploads whose bytes have all arrived. */
export const checksDue = defineDueWork({
  name: 'file/checks',
  rows: {
    table: 'uploads',
    key: 'id',
    owner: organizationOrNone,
    dueAt: 'check_due_at',
    waits: `state = 'arrived'`,
  },
  leaseMs: 5 * 60_000,
  workflow: 'checkUpload',
  input: ({ key }) => ({ uploadId: key }),
});
