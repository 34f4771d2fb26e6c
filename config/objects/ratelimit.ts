import { duration, flag, integer, list, object, text } from '../schema/field.ts';
import { token } from '../schema/format.ts';

/** A rate limiter. */
function rateLimiter(description: string, { keyprefix, unit }: { readonly keyprefix: string; readonly unit: string }) {
  return object(description, {
    enabled: flag({ description: 'Counts requests and rejects those above a limit, unless dryrun is on.' }),
    options: list({
      description:
        'Limits. A request must stay within each of them. When empty, the limit is 10 requests in 1000 milliseconds.',
      items: object('One limit.', {
        requests: integer({
          description: 'Number of requests allowed within the window.',
          unit: 'requests',
          default: 500,
          minimum: 1,
          maximum: 10_000_000,
        }),
        window: duration({
          description: 'Length of the sliding window.',
          default: 60_000,
          minimum: 100,
          maximum: 86_400_000,
        }),
        expiration: duration({
          description: 'Time for which a counter is kept after its last request.',
          default: 0,
          minimum: 100,
          maximum: 172_800_000,
          special: [{ value: 0, meaning: 'twice the window' }],
        }),
        flushinterval: duration({
          description: 'Interval at which expired counters are removed from memory.',
          default: 0,
          minimum: 100,
          maximum: 3_600_000,
          special: [{ value: 0, meaning: '10000, or expiration when that is shorter' }],
        }),
      }),
    }),
    headers: list({
      description:
        'Sources of the client address by which requests and failed sign-ins are counted; the first one that has an address applies. An entry is `RemoteAddr` (the address of the connection) or the name of a request header. Name only headers that your proxy sets, because clients can send any header.',
      items: text({ description: 'Name of a request header, or `RemoteAddr`.', format: token }),
      default: ['RemoteAddr'],
    }),
    forwardedindexfrombehind: integer({
      description:
        'Which address of `X-Forwarded-For` is used when that header is in headers: 0 is the last one (closest to the server), 1 the one before it, and so on.',
      unit: 'position from the end',
      default: 0,
      minimum: 0,
      maximum: 100,
    }),
    includepath: flag({
      description: `Counts each ${unit} separately.`,
    }),
    includemethod: flag({ description: 'Counts each HTTP method separately.' }),
    keyprefix: text({
      description: 'Prefix of the counter keys. Limiters with different prefixes do not share counters.',
      default: keyprefix,
      maxLength: 100,
    }),
    denystatus: integer({
      description: 'HTTP status of the response when a limit is exceeded.',
      unit: 'HTTP status',
      default: 429,
      minimum: 400,
      maximum: 599,
      special: [{ value: 0, meaning: '429' }],
    }),
    denymessage: text({
      description: 'Error message of the response when a limit is exceeded. When empty, it is `Too many requests`.',
      default: 'Too many requests',
      maxLength: 1000,
    }),
    sendretryafterheader: flag({
      description: 'Adds the header `Retry-After` to responses that reject a request.',
      default: true,
    }),
    dryrun: flag({ description: 'Counts and logs requests but rejects none, whether enabled is on or off.' }),
  });
}

/** `ratelimit`: requests that match a route. */
export const ratelimit = rateLimiter(
  'Rate limit of requests that match a route. While it is on, routes that take credentials, send mails or are steps of a sign-in have stricter limits besides (docs/limits.md).',
  { keyprefix: 'ratelimit', unit: 'route' },
);

/** `ratelimitunmatched`: requests that match no route. */
export const ratelimitunmatched = rateLimiter('Rate limit of requests that match no route.', {
  keyprefix: 'ratelimitunmatched',
  unit: 'path, of which a client can make up any number,',
});
