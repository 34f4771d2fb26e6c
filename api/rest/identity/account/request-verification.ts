import { emailVerification } from '#entities/identity/email-verification.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { CreationOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Services } from '../../../http/services.ts';
import { minIntervalMs } from './mail-limits.ts';

const day = 86_400_000;

/** Lifetime of a confirmation link, in milliseconds. */
const linkLifetimeMs = 7 * day;

type Request = Pick<
  CreationOf<typeof emailVerification>,
  'email' | 'passwordHash' | 'firstName' | 'lastName' | 'round'
>;

/**
 * Records a link for an address, and that its e-mail is to be sent if the last one is old enough. The listener `mail-verification` looks
 * whether the address has an account: the caller's request does the same work for every address, which it must have locked.
 */
export async function requestVerification(
  { unit, services }: { readonly unit: UnitOfWork; readonly services: Services },
  data: DataClient,
  request: Request,
): Promise<void> {
  const now = services.clock.now();
  const [last] = await data.find(emailVerification, {
    where: { email: { eq: request.email }, sentAt: { isNull: false } },
    orderBy: [{ field: 'sentAt', direction: 'desc' }],
    limit: 1,
  });
  const isPaused = last?.sentAt && now.getTime() - last.sentAt.getTime() < minIntervalMs;
  const verification = await data.create(emailVerification, {
    ...request,
    sentAt: isPaused || !request.passwordHash ? null : now,
    expiresAt: new Date(now.getTime() + linkLifetimeMs),
  });
  unit.emit(customEvent(emailVerification, 'requested', verification, { round: verification.round }));
}
