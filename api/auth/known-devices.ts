import { isSignedNonce, newSignedNonce } from './signed-nonce.ts';

/** Cookie with the marks of a browser (OWASP, Device Cookies). */
export const deviceCookie = 'known_devices';

/** Lifetime of the cookie in seconds: half a year. */
export const deviceMaxAge = 182 * 24 * 3_600;

/** Maximum number of people of one browser; the one who signed in longest ago is dropped. */
const maxPeople = 5;

/** The form of a mark, whosever it is (`newSignedNonce`). */
const markPattern = /^[\w-]{22}\.[\w-]{43}$/;

/**
 * The mark that a browser got at an earlier sign-in to this account. It proves no identity: failures of a browser that has one are
 * counted separately, so that attackers elsewhere cannot lock the owner of the account out.
 * @param account of a person, in the form in which attempts are counted
 * @returns an id of the browser, or undefined
 */
export function knownDevice(key: Buffer, account: string, cookie: string | undefined): string | undefined {
  const mark = marksOf(cookie).find((one) => isSignedNonce(key, account, one));
  return mark?.split('.')[0];
}

/** The value of the cookie after a sign-in to this account. */
export function rememberDevice(key: Buffer, account: string, cookie: string | undefined): string {
  const others = marksOf(cookie).filter((one) => !isSignedNonce(key, account, one));
  return [newSignedNonce(key, account), ...others].slice(0, maxPeople).join('~');
}

function marksOf(cookie = ''): string[] {
  return cookie.split('~', maxPeople).filter((mark) => markPattern.test(mark));
}
