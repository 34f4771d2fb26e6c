import { flag, object, text } from '../schema/field.ts';
import { domainName, serverPath, token } from '../schema/format.ts';

/** `server.csrfprotection` (specification: Server, CSRF; Authentication, CSRF). */
export const csrfprotection = object(
  'Protection against cross-site request forgery by a signed double-submit cookie.',
  {
    enabled: flag({
      description:
        'Refuses POST, PUT, PATCH and DELETE with 403 unless the header carries the token of the cookie. Requests in which no cookie serves as credential are exempt.',
      default: true,
    }),
    header: text({
      description: 'Request header that carries the token.',
      default: 'X-Csrf-Token',
      format: token,
      required: true,
    }),
    cookie: text({
      description: 'Cookie that stores the token.',
      default: 'csrf_token',
      format: token,
      required: true,
    }),
    secure: flag({ description: 'Secure flag of the cookie: browsers send it over HTTPS only.', default: true }),
    samesite: text({
      description: 'SameSite attribute of the cookie. `Default` leaves it out; `None` needs secure.',
      values: ['Lax', 'Strict', 'None', 'Default'],
      default: 'Lax',
    }),
    cookiehttponly: flag({
      description: 'HttpOnly flag of the cookie. On, scripts of a web page cannot copy the token into the header.',
    }),
    cookiedomain: text({ description: 'Domain attribute of the cookie. Empty: this host only.', format: domainName }),
    cookiepath: text({ description: 'Path attribute of the cookie.', default: '/', format: serverPath }),
  },
);
