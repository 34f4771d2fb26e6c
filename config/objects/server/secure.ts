import { flag, integer, object, text } from '../../schema/field.ts';
import { headerValue } from '../../schema/format.ts';

/** `server.secure`. An empty text leaves its header out. */
export const secure = object(
  'Security headers of every response. Routes with stricter ones of their own, such as files, keep them.',
  {
    enabled: flag({ description: 'Sends the headers below. When off, none of them is sent.', default: true }),
    xssprotection: text({
      description: 'Value of the header `X-XSS-Protection`. When empty, the header is omitted.',
      default: '1; mode=block',
      format: headerValue,
    }),
    contenttypenosniff: text({
      description: 'Value of the header `X-Content-Type-Options`. When empty, the header is omitted.',
      default: 'nosniff',
      format: headerValue,
    }),
    xframeoptions: text({
      description: 'Value of the header `X-Frame-Options`. When empty, the header is omitted.',
      default: 'SAMEORIGIN',
      format: headerValue,
    }),
    hstspreloadenabled: flag({ description: 'Adds `preload` to the header `Strict-Transport-Security`.' }),
    hstsmaxage: integer({
      description:
        '`max-age` of the header `Strict-Transport-Security`, which is sent over HTTPS only: of this server, or of a proxy that sends `X-Forwarded-Proto: https`. It includes all subdomains. 0 omits the header.',
      unit: 'seconds',
      default: 31_536_000,
      minimum: 0,
      maximum: 94_608_000,
    }),
    contentsecuritypolicy: text({
      description: 'Value of the header `Content-Security-Policy`. When empty, the header is omitted.',
      default: "default-src 'self'",
      format: headerValue,
    }),
    referrerpolicy: text({
      description: 'Value of the header `Referrer-Policy`. When empty, the header is omitted.',
      default: 'same-origin',
      format: headerValue,
    }),
    cspreportonly: flag({
      description:
        'Sends the policy as `Content-Security-Policy-Report-Only`: browsers report violations and do not block them.',
    }),
  },
);
