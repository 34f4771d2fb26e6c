import { flag, integer, object, text } from '../schema/field.ts';
import { headerValue } from '../schema/format.ts';

/** `server.secure` (specification: Server, Secure headers). An empty text leaves its header out. */
export const secure = object('Security headers of every answer.', {
  enabled: flag({ description: 'Sets the headers below.', default: true }),
  xssprotection: text({
    description: 'Value of X-XSS-Protection. Empty: header left out.',
    default: '1; mode=block',
    format: headerValue,
  }),
  contenttypenosniff: text({
    description: 'Value of X-Content-Type-Options. Empty: header left out.',
    default: 'nosniff',
    format: headerValue,
  }),
  xframeoptions: text({
    description: 'Value of X-Frame-Options. Empty: header left out.',
    default: 'SAMEORIGIN',
    format: headerValue,
  }),
  hstspreloadenabled: flag({ description: 'Adds `preload` to Strict-Transport-Security.' }),
  hstsmaxage: integer({
    description: 'Max age in Strict-Transport-Security, sent over HTTPS only. 0 leaves the header out.',
    unit: 'seconds',
    default: 31_536_000,
    minimum: 0,
    maximum: 94_608_000,
  }),
  contentsecuritypolicy: text({
    description: 'Value of Content-Security-Policy. Empty: header left out.',
    default: "default-src 'self'",
    format: headerValue,
  }),
  referrerpolicy: text({
    description: 'Value of Referrer-Policy. Empty: header left out.',
    default: 'same-origin',
    format: headerValue,
  }),
  cspreportonly: flag({
    description: 'Sends the policy as Content-Security-Policy-Report-Only: violations are reported, not blocked.',
  }),
});
