import { emailVerification } from '#entities/identity/email-verification.ts';
import type { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Services } from '../../http/services.ts';

const day = 86_400_000;

/** Lifetime of a confirmation link, in milliseconds. */
const linkLifetimeMs = 7 * day;

/** Minimum interval between two e-mails to one address, in milliseconds. */
const minIntervalMs = 60_000;

/** Whether the minimum interval has passed; it prevents flooding a mailbox. */
export function isPauseOver(held: RowOf<typeof emailVerification>, now: Date): boolean {
  return now.getTime() - held.sentAt.getTime() >= minIntervalMs;
}

/** Requests a confirmation e-mail; links of earlier ones stop working. */
export async function requestVerification(
  { unit, services }: { readonly unit: UnitOfWork; readonly services: Services },
  data: DataClient,
  person: RowOf<typeof user>,
  held: RowOf<typeof emailVerification> | undefined,
): Promise<void> {
  const now = services.clock.now();
  const expiresAt = new Date(now.getTime() + linkLifetimeMs);
  const verification = held
    ? await data.update(emailVerification, held.id, { round: held.round + 1, sentAt: now, expiresAt })
    : await data.create(emailVerification, { userId: person.id, email: person.email, sentAt: now, expiresAt });
  unit.emit(customEvent(emailVerification, 'requested', verification, { round: verification.round }));
}
