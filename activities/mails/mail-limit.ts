import { createHash } from 'node:crypto';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

const dayMs = 86_400_000;

/** Mails of one purpose within a day to one address, whoever asks for them, and for one organization. */
const limits = { recipient: 10, organization: 500 } as const;

/**
 * Counts a mail that members of an organization can have sent to any address.
 * @param purpose mails of each purpose have their own limit
 * @returns whether there were too many
 */
export async function isBeyondMailLimit(
  unit: UnitOfWork,
  purpose: string,
  { email, organizationId }: { readonly email: string; readonly organizationId: string },
): Promise<boolean> {
  const recipient = createHash('sha256').update(email).digest('hex');
  const counters = [
    { key: `${purpose}-to:${recipient}`, limit: limits.recipient },
    { key: `${purpose}-of:${organizationId}`, limit: limits.organization },
  ];
  return (await takeAttempt(unit, counters, dayMs)) !== undefined;
}
