/** Rows of messages about one notification that wait on a channel. */
export const waitingSendings = (channel: string) =>
  ({
    table: 'notification_sendings',
    key: 'notification_id',
    owner: 'organization_id',
    dueAt: 'due_at',
    waits: `state = 'planned' and channel = '${channel}'`,
  }) as const;

/** Rows of digests that wait on a channel. */
export const waitingDigests = (channel: string) =>
  ({
    table: 'notification_digests',
    key: 'id',
    owner: 'organization_id',
    dueAt: 'due_at',
    waits: `state = 'claimed' and channel = '${channel}'`,
  }) as const;
