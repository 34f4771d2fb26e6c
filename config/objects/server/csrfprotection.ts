import { flag, object, text } from '../../schema/field.ts';
import { domainName, serverPath, token } from '../../schema/format.ts';

/** `server.csrfprotection`. */
export const csrfprotection = object(
  'Protection against cross-site request forgery by a signed double-submit cookie.',
  {
    enabled: flag({
      description:
        'Rejects POST, PUT, PATCH and DELETE requests with 403 unless the header carries the token of the cookie. Requests with an Authorization header are exempt.',
      default: true,
    }),
    header: text({
      description: 'Name of the request header that carries the token.',
      default: 'X-Csrf-Token',
      format: token,
      required: true,
    }),
    cookie: text({
      description: 'Name of the cookie that stores the token.',
      default: 'csrf_token',
      format: token,
      required: true,
    }),
    secure: flag({
      description: 'Sets the Secure attribute of the cookie: browsers send the cookie over HTTPS only.',
      default: true,
    }),
    samesite: text({
      description: 'SameSite attribute of the cookie. `Default` omits the attribute; `None` requires secure.',
      values: ['Lax', 'Strict', 'None', 'Default'],
      default: 'Lax',
    }),
    cookiehttponly: flag({
      description:
        'Sets the HttpOnly attribute of the cookie. Scripts of a web page then cannot read the token from the cookie.',
    }),
    cookiedomain: text({
      description: 'Domain attribute of the cookie. When empty, browsers send the cookie to this host only.',
      format: domainName,
    }),
    cookiepath: text({ description: 'Path attribute of the cookie.', default: '/', format: serverPath }),
  },
);
