import { maxSendAttempts, subscriber, verificationLifetimeMs } from '#entities/organizations/subscriber.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from '../credentials/asking.ts';

type Subscriber = RowOf<typeof subscriber>;

/**
 * Sends the verification e-mail of a subscriber again, with the rights of the caller; older links stop working.
 * @throws AppError not_found, permission_denied, limit_exceeded, rule_violated
 */
export async function resendVerification({ unit }: Pick<Asking, 'unit'>, id: string): Promise<Subscriber> {
  const wanted = existingId(subscriber, id);
  const held = await unit.data.findLocked(subscriber, wanted);
  if (!held) throw missingRecord(subscriber, wanted);
  if (held.isUnsubscribed || held.isEmailVerified)
    throw new AppError(
      'rule_violated',
      held.isUnsubscribed
        ? 'This subscription has ended. Create a new subscriber with the address, which verifies it again.'
        : 'This address is verified already.',
    );
  return renewVerification(unit, unit.data, held, '/id');
}

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
