/** Priorities of the mails that carry notifications: they go after all others, unless a notification is urgent. */
export const carrierPriorities: Readonly<Record<string, 2 | 4 | 5>> = { urgent: 2, notification: 4, digest: 5 };
