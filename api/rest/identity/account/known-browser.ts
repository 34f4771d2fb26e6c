import { hash } from 'node:crypto';
import type { user } from '#entities/identity/user.ts';
import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { credentialCookie } from '../../../auth/cookie-attributes.ts';
import { deviceCookie, deviceMaxAge, knownDevice, rememberDevice } from '../../../auth/known-devices.ts';
import { giveCookie } from '../../../http/plugins/cookies.ts';
import type { Call } from '../../../http/route.ts';
import type { Services } from '../../../http/services.ts';
import { accountKey } from './account-key.ts';

/** Time after the confirmation of an account in which devices are not announced as new, in milliseconds. */
const firstHourMs = 3_600_000;

type Account = Pick<RowOf<typeof user>, 'email' | 'passwordHash'>;

/**
 * The id of a browser that has signed in to an account before, since its password was set (docs/decisions/known-devices.md).
 * @param singleSignOnId the organization whose single sign-on the sign-in is; null for other ways to sign in
 */
export function knownBrowser(
  { request, services }: Call<unknown>,
  account: Account,
  singleSignOnId: string | null = null,
): string | undefined {
  return knownDevice(deviceKey(services), subjectOf(account, singleSignOnId), request.cookies[deviceCookie]);
}

/**
 * The next sign-in of this browser to this account is counted separately, and not announced as one on a new device. With single sign-on,
 * this holds for the single sign-on of the same organization alone.
 */
export function rememberBrowser(
  { request, services }: Call<unknown>,
  account: Account,
  singleSignOnId: string | null = null,
): void {
  const subject = subjectOf(account, singleSignOnId);
  const value = rememberDevice(deviceKey(services), subject, request.cookies[deviceCookie]);
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

/**
 * Purpose of a mark. A new password makes all browsers unknown: one of them may be the reason for it. The operator of the single sign-on of
 * an organization signs in as its members as often as they like, so their marks give no attempts at the password.
 */
function subjectOf({ email, passwordHash }: Account, singleSignOnId: string | null): string {
  const subject = `${accountKey(email)} ${hash('sha256', passwordHash ?? '')}`;
  return singleSignOnId === null ? subject : `${subject} ${singleSignOnId}`;
}

function deviceKey({ config }: Services): Buffer {
  return deriveKey(config.current.sessions.signingkey, 'known-device');
}
