import { accountEmail } from '#entities/email/account-email.ts';
import { email } from '#entities/email/email.ts';
import { endedEmailStatuses } from '#entities/email/email-fields.ts';
import { webhookEvent } from '#entities/integrations/webhook-event.ts';
import type { PrunedRecords } from '#entities/kit/outbox/old-records.ts';

const day = 86_400_000;

/** An e-mail that has come to its end; the link to unsubscribe from it works as long. */
const endedEmailMs = 180 * day;

/** One that waits, or was given up: an operator or a manager may want to repair it until then. */
const openEmailMs = 365 * day;

/** Longer than any system sends an event again. */
const receivedEventMs = 90 * day;

/**
 * Records that are removed, as the descriptions of the kinds say. Everything else that grows has a retention of its own, or is kept for
 * good.
 */
export const prunedRecords: readonly PrunedRecords[] = [
  ...[email, accountEmail].flatMap((module): PrunedRecords[] => [
    { module, keptMs: endedEmailMs, only: { field: 'status', among: endedEmailStatuses } },
    { module, keptMs: openEmailMs },
  ]),
  // Given up, and sent again as another e-mail.
  { module: email, keptMs: endedEmailMs, having: 'resentAt' },
  { module: webhookEvent, keptMs: receivedEventMs },
];
