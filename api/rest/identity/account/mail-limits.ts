import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { clientNetwork } from '../../../http/limits/client-address.ts';
import type { Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';

/** Minimum interval between two e-mails to one address, in milliseconds; it prevents flooding a mailbox. */
export const minIntervalMs = 60_000;

/** Requests for mails from one network address within the window after which it must wait, because each makes a record; the window is in milliseconds. */
const requests = { limit: 100, windowMs: 15 * 60_000 };

/** Counts a request for a mail. @param purpose requests of each purpose have their own limit @throws AppError too_many_requests */
export async function countMailRequest(
  { unit, request, services }: Pick<Call<unknown>, 'unit' | 'request' | 'services'>,
  purpose: string,
): Promise<void> {
  const key = { key: `${purpose}:${clientNetwork(request, services)}`, limit: requests.limit };
  const freeAt = await takeAttempt(unit, [key], requests.windowMs);
  if (freeAt) throw tooManyAttempts('Too many e-mails were asked for', freeAt, services.clock.now());
}
