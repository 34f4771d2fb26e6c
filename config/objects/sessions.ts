import { flag, integer, object, secret, text } from '../schema/field.ts';
import { domainName, keyList } from '../schema/format.ts';

/** `sessions` (specification: Sessions). */
export const sessions = object('Session cookie settings.', {
  signingkey: secret({
    description:
      'Signs the session cookie; at least 32 characters. Required in production; generated and kept in the local state folder when server.dev is on.',
    minLength: 32,
    restart: true,
  }),
  encryptionkey: secret({
    description:
      'Encrypts the session cookie, integration credentials and workflow payloads (keys are derived from it); at least 32 characters. To rotate it, put the new key before the old ones, separated by commas: the first encrypts, all of them decrypt; an old one may go when nothing is left that it encrypted. Required in production; generated and kept in the local state folder when server.dev is on.',
    format: keyList,
    minLength: 32,
    restart: true,
  }),
  domain: text({
    description: 'Domain attribute of the cookie. Empty: this host only.',
    format: domainName,
    fromDomain: (domain) => domain,
  }),
  maxage: integer({
    description: 'Lifetime of the session and its cookie.',
    unit: 'seconds',
    default: 3600,
    minimum: 60,
    maximum: 2_592_000,
  }),
  secure: flag({ description: 'Secure flag of the cookie: browsers send it over HTTPS only.', default: true }),
  httponly: flag({ description: 'HttpOnly flag of the cookie: scripts of a page cannot read it.', default: true }),
  samesite: text({
    description: 'SameSite attribute of the cookie. `Default` leaves it out; `None` needs secure.',
    values: ['Lax', 'Strict', 'None', 'Default'],
    default: 'Strict',
  }),
});
