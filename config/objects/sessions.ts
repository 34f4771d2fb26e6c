import { flag, integer, object, secret, text } from '../schema/field.ts';
import { domainName, keyList } from '../schema/format.ts';

/** `sessions`. */
export const sessions = object(
  'Cookies of a session of a browser: the session cookie, `access_token` and `refresh_token`.',
  {
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
      description:
        'Domain attribute of `access_token`. When empty, browsers send it to this host only. The session cookie and `refresh_token` have no domain; they have the prefix `__Host-` unless server.dev is on or secure is off.',
      format: domainName,
      fromDomain: (domain) => domain,
    }),
    maxage: integer({
      description:
        'Lifetime of the session cookie and of `access_token` in the browser, from the last sign-in, refresh or switch. The server refuses older session cookies. `refresh_token` lasts as long as the token.',
      unit: 'seconds',
      default: 3600,
      minimum: 60,
      maximum: 2_592_000,
    }),
    secure: flag({
      description: 'Sets the Secure attribute of the cookies: browsers send them over HTTPS only.',
      default: true,
    }),
    httponly: flag({
      description:
        'Sets the HttpOnly attribute of the cookies: scripts of a web page cannot read them. `refresh_token` always has it.',
      default: true,
    }),
    samesite: text({
      description: 'SameSite attribute of the cookies. `Default` omits the attribute; `None` requires secure.',
      values: ['Lax', 'Strict', 'None', 'Default'],
      default: 'Strict',
    }),
  },
);
