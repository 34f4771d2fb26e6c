import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { endSessions } from './end-sessions.ts';

/**
 * Sets the password of a person, signs out their devices and records the event that tells them.
 * @param keptSession goes on; all others end
 */
export async function setPassword(
  unit: UnitOfWork,
  data: DataClient,
  { userId, passwordHash }: { readonly userId: string; readonly passwordHash: string },
  keptSession?: string,
): Promise<void> {
  const person = await data.update(user, userId, { passwordHash });
  await endSessions(data, userId, keptSession);
  unit.emit(customEvent(user, 'password_changed', person, {}));
}
