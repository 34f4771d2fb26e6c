import { defineDueWork } from '../kit/due-work/define-due-work.ts';

/** Deletions that owners have announced, each at its time. */
export const announcedDeletionsDue = defineDueWork({
  name: 'organization/announced-deletions',
  rows: {
    table: 'announced_deletions',
    key: 'id',
    owner: 'organization_id',
    dueAt: 'due_at',
    waits: 'due_at is not null',
  },
  leaseMs: 15 * 60_000,
  workflow: 'deleteAnnounced',
  input: ({ owner }) => ({ organizationId: owner }),
  search: ({ owner }) => ({ OrganizationId: [owner], EntityKind: 'organization', EntityId: owner }),
});
