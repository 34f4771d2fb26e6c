import { hash } from 'node:crypto';
import type { user } from '#entities/identity/user.ts';
import { deriveKey } from '#entities/kit/base/keys.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { credentialCookie } from '../../auth/cookie-attributes.ts';
import { deviceCookie, deviceMaxAge, knownDevice, rememberDevice } from '../../auth/known-devices.ts';
import { giveCookie } from '../../http/plugins/cookies.ts';
import type { Call } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { accountKey } from './account-key.ts';

/** Time after the confirmation of an account in which devices are not announced as new, in milliseconds. */
const firstHourMs = 3_600_000;

type Account = Pick<RowOf<typeof user>, 'email' | 'passwordHash'>;

/** The id of a browser that has signed in to an account before, since its password was set (docs/decisions/known-devices.md). */
export function knownBrowser({ request, services }: Call<unknown>, account: Account): string | undefined {
  return knownDevice(deviceKey(services), subjectOf(account), request.cookies[deviceCookie]);
}

/** The next sign-in of this browser to this account is counted separately. */
export function rememberBrowser({ request, services }: Call<unknown>, account: Account): void {
  const value = rememberDevice(deviceKey(services), subjectOf(account), request.cookies[deviceCookie]);
  giveCookie(request, deviceCookie, value, {
    ...credentialCookie(services.config.current),
    httpOnly: true,
    maxAge: deviceMaxAge,
  });
}

/** Whether a sign-in is announced as one on a new device. @param browser the id of the browser, if it is known */
export function isNewDevice(
  { emailConfirmedAt }: Pick<RowOf<typeof user>, 'emailConfirmedAt'>,
  browser: string | undefined,
  now: Date,
): boolean {
  return browser === undefined && emailConfirmedAt !== null && now.getTime() - emailConfirmedAt.getTime() > firstHourMs;
}

/** What a mark is for. A new password makes all browsers unknown: one of them may be the reason for it. */
function subjectOf({ email, passwordHash }: Account): string {
  return `${accountKey(email)} ${hash('sha256', passwordHash ?? '')}`;
}

function deviceKey({ config }: Services): Buffer {
  return deriveKey(config.current.sessions.signingkey, 'known-device');
}
