import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import { clientNetwork, type AddressSources } from '../limits/client-address.ts';
import { classLimit, limitersOf, type Limit, type Limiter } from '../limits/rate-limits.ts';
import type { Services } from '../services.ts';
import { routedPath } from './routed-path.ts';

type Counted = Parameters<CoreRuntime['rateCounters']['take']>[0];
type Decision = Awaited<ReturnType<CoreRuntime['rateCounters']['take']>>;

/**
 * Refuses requests above the limits of `ratelimit`, or of `ratelimitunmatched` where no route matches. Must be registered after the
 * headers for pages of other origins, which read the refusal, and before everything that costs more than counting.
 */
export function rateLimitPlugin(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', (request, reply, done) => {
    const name = request.is404 ? 'ratelimitunmatched' : 'ratelimit';
    const limiter = limitersOf(services.config.current)[name];
    if (!limiter.isOn || request.routeOptions.config.limitClass === 'exempt') return done();
    const counting: Counting = {
      request,
      reply,
      services,
      name,
      limiter,
      client: clientNetwork(request, services, name),
    };
    const limits = limitsOf(counting);
    const decided = services.rateCounters.take(limits.counted, limiter.isDryRun);
    // A promise would cost ticks of the event loop.
    if (!(decided instanceof Promise)) return done(answer(counting, limits.named, decided));
    return answerLater(counting, limits.named, decided);
  });
}

async function answerLater(counting: Counting, limits: readonly Limit[], decided: Promise<Decision>): Promise<void> {
  const refusal = answer(counting, limits, await decided);
  if (refusal) throw refusal;
}

interface Counting {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly services: Services;
  readonly name: AddressSources;
  readonly limiter: Limiter;
  readonly client: string;
}

/** The limits that apply to a request, by their names and with the keys of their counters. */
function limitsOf({ request, name, limiter, client }: Counting): { named: Limit[]; counted: Counted } {
  const { method, url, routeOptions } = request;
  const path = routeOptions.url ?? routedPath(url);
  const key = [
    limiter.keyPrefix,
    ...(name === 'ratelimitunmatched' ? ['unmatched'] : []),
    client,
    ...(limiter.includesMethod ? [method] : []),
    ...(limiter.includesPath ? [path] : []),
  ].join('|');
  const ofClass = name === 'ratelimit' ? classLimit(routeOptions.config.limitClass ?? 'general') : undefined;
  const counted = limiter.limits.map((limit) => ({ ...limit, key }));
  if (!ofClass) return { named: [...limiter.limits], counted };
  const classKey = [limiter.keyPrefix, ofClass.name, client, method, path].join('|');
  return { named: [...limiter.limits, ofClass], counted: [...counted, { ...ofClass, key: classKey }] };
}

/** Says in headers how the limits stand. @returns the refusal, if it is one */
function answer(
  counting: Counting,
  limits: readonly Limit[],
  { isRefused, standings }: Decision,
): AppError | undefined {
  const { request, reply, services, name, limiter, client } = counting;
  const { isDryRun, status, message, sendsRetryAfter } = limiter;
  // Clients must not slow down because of limits that do not apply.
  if (!isDryRun) reply.headers(rateLimitHeaders(limits, standings));
  if (!isRefused) return undefined;
  services.metrics.rateLimited.inc({ limiter: name, outcome: isDryRun ? 'dry_run' : 'refused' });
  if (isDryRun) {
    const exhausted = limits.filter((_, at) => standings[at]?.waitMs !== 0).map((limit) => limit.name);
    request.log.warn({ limiter: name, client, exhausted }, 'a request is above the rate limit (dry run)');
    return undefined;
  }
  const retryAfterSeconds = seconds(Math.max(...standings.map(({ waitMs }) => waitMs)));
  return new AppError('rate_limit_exceeded', message, {
    details: { status, ...(sendsRetryAfter ? { retryAfterSeconds } : {}) },
  });
}

/** draft-ietf-httpapi-ratelimit-headers-11. `t`: until the window ends or, where nothing remains, until the next request passes. */
function rateLimitHeaders(limits: readonly Limit[], standings: Decision['standings']): Record<string, string> {
  const policies = limits.map(({ name, requests, windowMs }) => `"${name}";q=${requests};w=${seconds(windowMs)}`);
  const states = standings.map(
    ({ remaining, resetMs, waitMs }, at) => `"${limits[at]?.name}";r=${remaining};t=${seconds(waitMs || resetMs)}`,
  );
  return { 'ratelimit-policy': policies.join(', '), ratelimit: states.join(', ') };
}

function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1_000);
}
