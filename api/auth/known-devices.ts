import { isSignedBy, sign } from '#entities/kit/base/keys.ts';
import { randomBytesPooled } from '#entities/kit/base/random-pool.ts';

/** Cookie with the marks of a browser (OWASP, Device Cookies). */
export const deviceCookie = 'known_devices';

/** Lifetime of the cookie in seconds: half a year. */
export const deviceMaxAge = 182 * 24 * 3_600;

/** Maximum number of people of one browser; the one who signed in longest ago is dropped. */
const maxPeople = 5;

/** `nonce.signature`, the nonce with 16 bytes and the signature with 32. */
const markPattern = /^[\w-]{22}\.[\w-]{43}$/;

/**
 * The mark that a browser got at an earlier sign-in to this account. It proves no identity: failures of a browser that has one are
 * counted separately, so that attackers elsewhere cannot lock the owner of the account out.
 * @param account of a person, as it is counted
 * @returns an id of the browser, or undefined
 */
export function knownDevice(key: Buffer, account: string, cookie: string | undefined): string | undefined {
  const mark = marksOf(cookie).find((one) => isFor(key, account, one));
  return mark?.split('.')[0];
}

/** The value of the cookie after a sign-in to this account. */
export function rememberDevice(key: Buffer, account: string, cookie: string | undefined): string {
  const nonce = randomBytesPooled(16).toString('base64url');
  const others = marksOf(cookie).filter((one) => !isFor(key, account, one));
  return [`${nonce}.${sign(key, [nonce, account]).toString('base64url')}`, ...others].slice(0, maxPeople).join('~');
}

function marksOf(cookie = ''): string[] {
  return cookie.split('~', maxPeople).filter((mark) => markPattern.test(mark));
}

function isFor(key: Buffer, account: string, mark: string): boolean {
  const [nonce = '', signature = ''] = mark.split('.');
  return isSignedBy(key, [nonce, account], signature);
}
