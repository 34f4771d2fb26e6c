import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import {
  outboundRequest,
  OutboundError,
  type OutboundLimits,
  type OutboundResponse,
} from '../outbound/outbound-request.ts';
import type { ProviderHttp } from './definition.ts';
import { ProviderError } from './provider-error.ts';

/** Maximum duration of a request, its answer included, in milliseconds, and maximum size of an answer in bytes. */
const [defaultTimeoutMs, maxBytes] = [15_000, 16 * mebibyte];

/** Pause after an answer that says only that there were too many requests, and the longest that a provider gets, in milliseconds. */
const [usualPauseMs, maxPauseMs] = [30_000, 3_600_000];

/** The rate of an account. */
export interface RequestRate {
  /** Called before each request: the rate of the account. @param cost as a number of requests @throws ProviderError rate_limited */
  readonly beforeRequest?: (cost: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Called when the provider asks for a pause. */
  readonly onPause?: (retryAfterMs: number) => Promise<void>;
}

interface ProviderHttpOptions extends Pick<OutboundLimits, 'reach' | 'lookup' | 'signal'>, RequestRate {
  readonly now: () => Date;
  readonly timeoutMs?: number;
}

/** The only way of adapters to the other system: one attempt, no redirects, limited in time and size. @param cost of each request */
export function providerHttp(options: ProviderHttpOptions, cost = 1): ProviderHttp {
  return {
    fetch: (url, init) => send(options, cost, String(url), init),
    withCost: (each) => providerHttp(options, each),
  };
}

async function send(
  { reach, lookup, signal, now, timeoutMs = defaultTimeoutMs, beforeRequest, onPause }: ProviderHttpOptions,
  cost: number,
  url: string,
  { method = 'GET', headers, body, signal: ownSignal }: RequestInit = {},
): Promise<Response> {
  const given = [signal, ownSignal].filter((one) => one !== undefined && one !== null);
  const ended = given.length > 0 ? AbortSignal.any(given) : undefined;
  await beforeRequest?.(cost, ended);
  const response = await outboundRequest(
    url,
    { method, headers: plainHeaders(headers, body), ...(body ? { body: textOf(body) } : {}) },
    {
      reach,
      timeoutMs,
      maxBytes,
      ...(lookup ? { lookup } : {}),
      ...(ended ? { signal: ended } : {}),
    },
  ).catch((error: unknown) => {
    if (!(error instanceof OutboundError)) throw error;
    throw new ProviderError(
      'unavailable',
      `The other system gives no usable answer: ${error.message}. The server tries again by itself.`,
      { cause: error },
    );
  });
  const pauseMs = pauseOf(response, now());
  if (pauseMs !== undefined) await onPause?.(pauseMs);
  return asFetched(response);
}

/** Statuses with which providers ask for a pause, if they say how long it is; 429 asks for one also if it does not. */
const pausing: ReadonlySet<number> = new Set([403, 429, 503]);

/** The pause that a provider asks for, in milliseconds. */
function pauseOf(response: OutboundResponse, now: Date): number | undefined {
  if (!pausing.has(response.status)) return undefined;
  const askedMs =
    retryAfterMs(headerOf(response, 'retry-after'), now) ??
    untilResetOf((name) => headerOf(response, name), now) ??
    (response.status === 429 ? usualPauseMs : 0);
  return askedMs > 0 ? Math.min(askedMs, maxPauseMs) : undefined;
}

/** Milliseconds until the rate of an account, which is used up, begins anew: an hour at most. Undefined where the answer does not say so. */
export function untilResetOf(header: (name: string) => string | null | undefined, now: Date): number | undefined {
  if (header('x-ratelimit-remaining') !== '0') return undefined;
  const resetMs = Number(header('x-ratelimit-reset') ?? Number.NaN) * 1_000 - now.getTime();
  return Number.isFinite(resetMs) ? Math.min(Math.max(0, resetMs), maxPauseMs) : undefined;
}

function plainHeaders(given: RequestInit['headers'], body: RequestInit['body']): Record<string, string> {
  const headers = new Headers(given);
  if (body instanceof URLSearchParams && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
  if (!headers.has('user-agent')) headers.set('user-agent', 'core-server');
  return Object.fromEntries(headers);
}

/** @throws TypeError for bodies that no adapter sends */
function textOf(body: NonNullable<RequestInit['body']>): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  throw new TypeError('a request to a provider has a text, a form or bytes as its body');
}

function headerOf({ headers }: OutboundResponse, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Statuses whose responses have no body (Fetch, section 2.2.3). */
const bodyless: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function asFetched({ status, headers: sent, body }: OutboundResponse): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) for (const one of [value ?? []].flat()) headers.append(name, one);
  return new Response(bodyless.has(status) ? null : new Uint8Array(body), { status, headers });
}
