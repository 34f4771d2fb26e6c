import type { Config } from '#config/objects/root.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';

/** Requests in a minute that a client may send to one route of a class, while `ratelimit` is on; whatever `ratelimit.options` allows. */
const classLimits = {
  /** Takes a password, a code, or another secret that could be guessed. */
  credential: 10,
  /** Sends a mail to an address that the request names. */
  mail: 5,
  /** A step of a sign-in, or takes a link that cannot be guessed. */
  flow: 30,
  /** Documents for everybody. */
  static: 120,
  /** All GraphQL operations together. */
  graphql: 1_200,
} as const;
type LimitedClass = keyof typeof classLimits;

/** `general`: only `ratelimit.options` apply. `exempt`: nothing does, because health checks and their answers must not depend on load. */
export type LimitClass = LimitedClass | 'general' | 'exempt';

const classWindowMs = 60_000;

/** Settings of a route for its rate limit. */
export interface Limitable {
  readonly method: string;
  readonly access: string;
  readonly limitClass?: LimitClass;
  readonly whileStopping?: true;
  readonly verifiesSignature?: true;
}

/** A change that nobody has to sign in for takes a credential, unless its route says otherwise. */
export function limitClassOf(route: Limitable): LimitClass {
  const { method, access, limitClass, whileStopping, verifiesSignature } = route;
  if (limitClass) return limitClass;
  if (whileStopping) return 'exempt';
  return method !== 'GET' && access !== 'required' && !verifiesSignature ? 'credential' : 'general';
}

/** One limit of a limiter. */
export interface Limit {
  /** In the headers `RateLimit` and `RateLimit-Policy`. */
  readonly name: string;
  readonly requests: number;
  readonly windowMs: number;
  readonly expirationMs: number;
  readonly flushIntervalMs: number;
}

export interface Limiter {
  readonly isOn: boolean;
  readonly isDryRun: boolean;
  /** At most one for each window. */
  readonly limits: readonly Limit[];
  readonly includesPath: boolean;
  readonly includesMethod: boolean;
  readonly keyPrefix: string;
  readonly status: number;
  readonly message: string;
  readonly sendsRetryAfter: boolean;
}

type LimiterName = 'ratelimit' | 'ratelimitunmatched';
type LimiterConfig = Config[LimiterName];

/** The limiters of a configuration. */
export const limitersOf = onceForEach(
  ({ ratelimit, ratelimitunmatched }: Config): Readonly<Record<LimiterName, Limiter>> => ({
    ratelimit: limiterOf(ratelimit),
    ratelimitunmatched: limiterOf(ratelimitunmatched),
  }),
);

/** Applies where `options` is empty. */
const defaultOption = { requests: 10, window: 1_000, expiration: 0, flushinterval: 0 };
const defaultStatus = 429;
const defaultMessage = 'Too many requests';

function limiterOf(config: LimiterConfig): Limiter {
  const { enabled, dryrun, options, denystatus, denymessage } = config;
  return {
    isOn: enabled || dryrun,
    isDryRun: dryrun,
    limits: strictest(options.length === 0 ? [defaultOption] : options).map(limitOf),
    includesPath: config.includepath,
    includesMethod: config.includemethod,
    keyPrefix: config.keyprefix,
    status: denystatus === 0 ? defaultStatus : denystatus,
    message: denymessage.trim() === '' ? defaultMessage : denymessage,
    sendsRetryAfter: config.sendretryafterheader,
  };
}

/** Of several limits of one window only the strictest can ever refuse a request. */
function strictest(options: LimiterConfig['options']): LimiterConfig['options'][number][] {
  const byWindow = new Map<number, LimiterConfig['options'][number]>();
  for (const option of options) {
    const other = byWindow.get(option.window);
    if (!other || option.requests < other.requests) byWindow.set(option.window, option);
  }
  return [...byWindow.values()];
}

function limitOf({ requests, window, expiration, flushinterval }: LimiterConfig['options'][number]): Limit {
  const expirationMs = expiration === 0 ? 2 * window : expiration;
  return {
    name: window % 1_000 === 0 ? `${window / 1_000}s` : `${window}ms`,
    requests,
    windowMs: window,
    expirationMs,
    flushIntervalMs: flushinterval === 0 ? Math.min(10_000, expirationMs) : flushinterval,
  };
}

/** The limit of a class; undefined for classes without one. */
export function classLimit(limitClass: LimitClass): Limit | undefined {
  if (limitClass === 'general' || limitClass === 'exempt') return undefined;
  return {
    ...limitOf({ requests: classLimits[limitClass], window: classWindowMs, expiration: 0, flushinterval: 0 }),
    name: limitClass,
  };
}
