import type { user } from '#entities/identity/user.ts';
import { deriveKey } from '#entities/kit/base/keys.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { credentialCookie } from '../../auth/cookie-attributes.ts';
import { deviceCookie, deviceMaxAge, knownDevice, rememberDevice } from '../../auth/known-devices.ts';
import { giveCookie } from '../../http/plugins/cookies.ts';
import type { Call } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';

/** Time after the confirmation of an account in which devices are not announced as new, in milliseconds. */
const firstHourMs = 3_600_000;

/** The id of a browser that has signed in to an account before (docs/decisions/known-devices.md). @param account its `accountKey` */
export function knownBrowser({ request, services }: Call<unknown>, account: string): string | undefined {
  return knownDevice(deviceKey(services), account, request.cookies[deviceCookie]);
}

/** The next sign-in of this browser to this account is counted separately. */
export function rememberBrowser({ request, services }: Call<unknown>, account: string): void {
  const value = rememberDevice(deviceKey(services), account, request.cookies[deviceCookie]);
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

function deviceKey({ config }: Services): Buffer {
  return deriveKey(config.current.sessions.signingkey, 'known-device');
}
