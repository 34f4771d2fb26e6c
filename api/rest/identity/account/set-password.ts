import { passwordReset } from '#entities/identity/password-reset.ts';
import { user } from '#entities/identity/user.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { forgetAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { accountKey } from './account-key.ts';
import { endCredentials } from './end-credentials.ts';
import { endSessions } from './end-sessions.ts';

/**
 * Sets the password of a person whose address is locked. All mailed links to set one stop working, the devices of the person are signed
 * out, failed sign-ins to the account are forgotten, and an event reports it.
 * @param keptSession continues; all others end. Without one, a mailed link proves who the person is: everything else that opens the account
 *   ends, because nobody knows who has added it (docs/decisions/forgotten-passwords.md)
 */
export async function setPassword(
  unit: UnitOfWork,
  data: DataClient,
  { person, passwordHash }: { readonly person: RowOf<typeof user>; readonly passwordHash: string },
  keptSession?: string,
): Promise<void> {
  const { id, email } = person;
  const changed = await data.update(user, id, { passwordHash });
  await endSessions(data, id, keptSession);
  const isReset = keptSession === undefined;
  if (isReset) await endCredentials(data, id);
  await voidResetLinks(data, email, unit.clock.now());
  await forgetAttempt(unit, accountKey(email), null);
  unit.emit(customEvent(user, 'password_changed', changed, { isReset }));
}

/** Links that have expired need not be marked: at most one a minute was mailed, each of which works for 15 minutes. */
export async function voidResetLinks(data: DataClient, email: string, now: Date): Promise<void> {
  const links = await data.find(passwordReset, {
    where: {
      email: { eq: email },
      usedAt: { isNull: true },
      sentAt: { isNull: false },
      expiresAt: { gt: now },
    },
    limit: 100,
  });
  const ids = links.map(({ id }) => id);
  if (ids.length > 0) await data.updateAll(passwordReset, ids, { usedAt: now });
}
