import { maxSendAttempts, subscriber, verificationLifetimeMs } from '#entities/organizations/subscriber.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';

type Subscriber = RowOf<typeof subscriber>;

/**
 * Makes a new link, which is mailed after the commit.
 * @param held locked
 * @param path of what named the subscriber, for the error
 * @throws AppError limit_exceeded, permission_denied
 */
export async function renewVerification(
  unit: UnitOfWork,
  data: DataClient,
  held: Subscriber,
  path: string,
): Promise<Subscriber> {
  if (held.round >= maxSendAttempts) {
    const message = `The verification e-mail was requested ${maxSendAttempts} times already; the subscriber has to be deleted and created once more.`;
    throw new AppError('limit_exceeded', message, { details: { fields: [{ path, message }] } });
  }
  const renewed = await data.update(subscriber, held.id, {
    round: held.round + 1,
    expiresAt: new Date(unit.clock.now().getTime() + verificationLifetimeMs),
  });
  unit.emit(customEvent(subscriber, 'resent', renewed, { round: renewed.round }));
  return renewed;
}
