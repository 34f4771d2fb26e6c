import { duration, flag, integer, list, object, text } from '../schema/field.ts';
import { token } from '../schema/format.ts';

/** A rate limiter (specification: Rate limiter; Errors 3). */
function rateLimiter(description: string, keyprefix: string) {
  return object(description, {
    enabled: flag({ description: 'Counts requests and, unless dryrun is on, refuses those above a limit.' }),
    options: list({
      description: 'The limits; a request must stay within all of them. Empty: 10 requests in 1000 milliseconds.',
      items: object('One limit.', {
        requests: integer({
          description: 'Requests allowed within the window.',
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
          description: 'How long a counter is kept after its last request.',
          default: 0,
          minimum: 100,
          maximum: 172_800_000,
          special: [{ value: 0, meaning: 'twice the window' }],
        }),
        flushinterval: duration({
          description: 'How often expired counters are thrown out of memory.',
          default: 0,
          minimum: 100,
          maximum: 3_600_000,
          special: [{ value: 0, meaning: '10000, or expiration when that is shorter' }],
        }),
      }),
    }),
    headers: list({
      description:
        'Where the client address comes from, first non-empty wins: names of headers that your proxy sets (any client can send them otherwise), or `RemoteAddr` for the address of the connection.',
      items: text({ description: 'A header name, or RemoteAddr.', format: token }),
      default: ['RemoteAddr'],
    }),
    forwardedindexfrombehind: integer({
      description:
        'Which address of X-Forwarded-For counts when that header is in headers: 0 is the last one (closest client), 1 the one before it, and so on.',
      unit: 'position from the end',
      default: 0,
      minimum: 0,
      maximum: 100,
    }),
    includepath: flag({ description: 'Counts each route by itself.' }),
    includemethod: flag({ description: 'Counts each method by itself.' }),
    keyprefix: text({
      description: 'Prefix of the counters, so that limiters do not share them.',
      default: keyprefix,
      maxLength: 100,
    }),
    denystatus: integer({
      description: 'Status of the answer when a limit is exceeded.',
      unit: 'HTTP status',
      default: 429,
      minimum: 400,
      maximum: 599,
      special: [{ value: 0, meaning: '429' }],
    }),
    denymessage: text({
      description: 'Text in the answer when a limit is exceeded. Empty: Too many requests.',
      default: 'Too many requests',
      maxLength: 1000,
    }),
    sendretryafterheader: flag({ description: 'Adds Retry-After to such answers.', default: true }),
    dryrun: flag({ description: 'Counts and logs, but blocks nothing, whether enabled is on or off.' }),
  });
}

/** `ratelimit` (specification: Rate limiter): requests that match a route. */
export const ratelimit = rateLimiter('Rate limiter of requests that match a route.', 'ratelimit');

/** `ratelimitunmatched`: requests that match no route. */
export const ratelimitunmatched = rateLimiter('Rate limiter of requests that match no route.', 'ratelimitunmatched');
