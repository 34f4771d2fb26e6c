/** Minimum interval between two e-mails to one address, in milliseconds; it prevents flooding a mailbox. */
export const minIntervalMs = 60_000;

/** Requests for mails from one network address within the window after which it must wait, because each makes a record; the window is in milliseconds. */
export const mailRequests = { limit: 100, windowMs: 15 * 60_000 };
