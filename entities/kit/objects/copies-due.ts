import { organizationOrNone } from '../due-work/due-rows.ts';
import { defineDueWork } from '../due-work/define-due-work.ts';

const minute = 60_000;
const hour = 60 * minute;

/** Copies of objects that records own; apart by provider, because each has a backup or none. */
export const copiesDue = defineDueWork({
  name: 'file/copies',
  rows: {
    table: 'stored_objects',
    key: 'id',
    owner: organizationOrNone,
    dueAt: 'copy_due_at',
    waits: `copy_due_at is not null and state = 'owned'`,
    lane: 'provider',
  },
  leaseMs: 5 * minute,
  retry: {
    pausesMs: [15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 16 * hour, 24 * hour],
    last: 'repeat',
  },
  workflow: 'backupFile',
  input: ({ key }) => ({ objectId: key }),
});
