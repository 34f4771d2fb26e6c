import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { GuardedCache } from './guarded-cache.ts';
import { counterName, type RateCounters, type RateDecision } from './rate-counters.ts';
import { standingOf, type RateLimit, type WindowCount } from './sliding-window.ts';

/**
 * Decides about a request and counts it, in one step: no other request is counted in between. It computes what `sliding-window.ts` does,
 * with the clock of the server, which all processes share. KEYS are the counters. ARGV: whether refused requests count (1 or 0); then
 * of each counter its limit, its window and its expiration in milliseconds. Returns whether the request is refused, the time, and of
 * each counter the number of its window, its requests and those of the window before.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local refused = 0
local counts = {}
for at, key in ipairs(KEYS) do
  local limit = tonumber(ARGV[3 * at - 1])
  local window = tonumber(ARGV[3 * at])
  local index = math.floor(now / window)
  local current, previous = 0, 0
  local stored = redis.call('HMGET', key, 'index', 'current', 'previous')
  local last = tonumber(stored[1] or '')
  if last and last >= index then
    index, current, previous = last, tonumber(stored[2]), tonumber(stored[3])
  elseif last and last == index - 1 then
    previous = tonumber(stored[2])
  end
  local rest = math.min(window, (index + 1) * window - now)
  if previous * rest / window + current + 1 > limit + 1e-7 then refused = 1 end
  counts[at] = { index, current, previous }
end
local reply = { refused, now }
for at, key in ipairs(KEYS) do
  local index, current, previous = unpack(counts[at])
  if refused == 0 or ARGV[1] == '1' then
    current = current + 1
    redis.call('HSET', key, 'index', index, 'current', current, 'previous', previous)
    redis.call('PEXPIRE', key, ARGV[3 * at + 1])
  end
  reply[#reply + 1] = index
  reply[#reply + 1] = current
  reply[#reply + 1] = previous
end
return reply
`;
const scriptHash = createHash('sha1').update(script).digest('hex');

/** Time without a failure after which the cache is used again, in milliseconds: one that comes and goes is one interruption. */
const calmMs = 10_000;

interface SharedRateCountersOptions {
  readonly cache: GuardedCache;
  /** Of the keys; several installations may share a server. */
  readonly prefix: string;
  /** Counts while the cache is unreachable or slow. */
  readonly held: RateCounters;
  readonly logger: Logger;
}

/** Counters that all processes share, in Redis. No request fails because of the cache: without it, each process counts by itself. */
export class SharedRateCounters implements RateCounters {
  readonly #options: SharedRateCountersOptions;
  #isAway = false;
  #failedAt = 0;
  #fallbacks = 0;

  constructor(options: SharedRateCountersOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#options.held.held;
  }

  get fallbacks(): number {
    return this.#fallbacks;
  }

  /** Connects before the first request, which would otherwise be counted in this process. */
  connect(): void {
    void this.#options.cache.ask((connection) => connection.ping(), undefined);
  }

  async take(limits: readonly RateLimit[], countsRefused: boolean): Promise<RateDecision> {
    const { cache, prefix, held } = this.#options;
    const askedAt = performance.now();
    let cause: unknown;
    const reply = await cache.ask(async (connection): Promise<readonly number[] | undefined> => {
      try {
        return await run(connection, limits, countsRefused, prefix);
      } catch (error) {
        cause = error;
        throw error;
      }
    }, undefined);
    if (reply) {
      this.#noteAnswer(askedAt);
      return decisionOf(limits, reply);
    }
    this.#noteFailure(cause);
    return held.take(limits, countsRefused);
  }

  /** Logs that the cache cannot be reached, once for each interruption. */
  #noteFailure(cause: unknown): void {
    this.#failedAt = performance.now();
    this.#fallbacks++;
    if (this.#isAway) return;
    this.#isAway = true;
    this.#options.logger.warn(
      { err: cause },
      'the cache does not answer: each process counts requests for rate limits by itself',
    );
  }

  #noteAnswer(askedAt: number): void {
    if (!this.#isAway || askedAt - this.#failedAt < calmMs) return;
    this.#isAway = false;
    this.#options.logger.info('the cache answers again: requests for rate limits are counted there');
  }
}

async function run(
  connection: Redis,
  limits: readonly RateLimit[],
  countsRefused: boolean,
  prefix: string,
): Promise<readonly number[]> {
  const keys = limits.map((limit) => `${prefix}:${counterName(limit)}`);
  const values = limits.flatMap(({ requests, windowMs, expirationMs }) => [requests, windowMs, expirationMs]);
  const parameters = [...keys, countsRefused ? 1 : 0, ...values];
  try {
    return (await connection.evalsha(scriptHash, keys.length, ...parameters)) as number[];
  } catch (error) {
    // A server that was started since does not know the script.
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return (await connection.eval(script, keys.length, ...parameters)) as number[];
  }
}

function decisionOf(limits: readonly RateLimit[], [refused, nowMs = 0, ...counts]: readonly number[]): RateDecision {
  const standings = limits.map((limit, at) => {
    const [index = 0, current = 0, previous = 0] = counts.slice(3 * at);
    const count: WindowCount = { index, current, previous };
    return standingOf(limit, count, nowMs);
  });
  return { isRefused: refused === 1, standings };
}
