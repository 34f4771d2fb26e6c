import { flag, integer, object, secret, text } from '../schema/field.ts';
import { domainName, keyList } from '../schema/format.ts';

/** `sessions`. */
export const sessions = object('Sessions and the session cookie.', {
  signingkey: secret({
    description:
      'Key from which the keys for session cookies, CSRF tokens and the links in mails are derived, at least 32 characters. Required in production. While server.dev is on, a missing key is generated and kept in the local state folder.',
    minLength: 32,
    restart: true,
  }),
  encryptionkey: secret({
    description:
      'Key from which the keys for session cookies, integration credentials and workflow payloads are derived, at least 32 characters. Several keys are separated by commas: the first one encrypts, all of them decrypt. To rotate, put the new key first; remove an old key when no data encrypted with it is left. Required in production. While server.dev is on, a missing key is generated and kept in the local state folder.',
    format: keyList,
    minLength: 32,
    restart: true,
  }),
  domain: text({
    description: 'Domain attribute of the session cookie. When empty, browsers send the cookie to this host only.',
    format: domainName,
    fromDomain: (domain) => domain,
  }),
  maxage: integer({
    description: 'Lifetime of a session and its cookie.',
    unit: 'seconds',
    default: 3600,
    minimum: 60,
    maximum: 2_592_000,
  }),
  secure: flag({
    description: 'Sets the Secure attribute of the session cookie: browsers send the cookie over HTTPS only.',
    default: true,
  }),
  httponly: flag({
    description: 'Sets the HttpOnly attribute of the session cookie: scripts of a web page cannot read the cookie.',
    default: true,
  }),
  samesite: text({
    description: 'SameSite attribute of the session cookie. `Default` omits the attribute; `None` requires secure.',
    values: ['Lax', 'Strict', 'None', 'Default'],
    default: 'Strict',
  }),
});
