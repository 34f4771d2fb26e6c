import { deriveKey } from '#entities/kit/base/keys.ts';
import { deviceCookie, deviceMaxAge, knownDevice, rememberDevice } from '../../auth/known-devices.ts';
import { credentialCookie } from '../../auth/cookie-attributes.ts';
import { giveCookie } from '../../http/plugins/cookies.ts';
import type { Call } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';

/** An id of the browser, if it has signed in to the account before. @param account as it is counted (`accountKey`) */
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

function deviceKey({ config }: Services): Buffer {
  return deriveKey(config.current.sessions.signingkey, 'known-device');
}
