import { lookup } from 'node:dns';
import { request as sendPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as sendEncrypted } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AppError } from '#entities/kit/base/errors.ts';

/** Maximum duration of a request to a provider, in milliseconds, its answer included. */
export const maxRequestMs = 5_000;

/** Maximum size of a response, in bytes. */
const maxBytes = 262_144;

export interface OutgoingRules {
  /** Whether this is a development server: it may also ask servers of the same machine, over HTTP too. */
  readonly isDev: boolean;
  /** Whether private networks may be asked: the operator has named the server, not a customer. */
  readonly allowsPrivate: boolean;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Network ranges besides the public ones, by rule. All others, such as link-local ones, are never asked. */
const privateRanges: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat']);

/**
 * Sends a request to a server that this one does not control. HTTPS only, limited in time and size; redirects are refused, and the
 * address that is connected to is one that has been checked (OWASP, Server-Side Request Forgery Prevention).
 * @throws AppError provider_unavailable when there is no usable response
 */
export async function outgoingFetch(
  target: string,
  request: OutgoingRequest,
  rules: OutgoingRules,
  timeoutMs = maxRequestMs,
): Promise<Response> {
  const url = new URL(target);
  const mayReach = checkOf(url, rules);
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) > 0 && !mayReach(host)) throw unavailable('its address must not be asked');
  const options: RequestOptions = {
    method: request.method,
    headers: { ...request.headers, 'accept-encoding': 'identity' },
    agent: false,
    lookup: checkedLookup(mayReach),
    signal: AbortSignal.timeout(timeoutMs),
  };
  const response = await exchange(url, options, request.body).catch((error: unknown) => {
    throw error instanceof AppError ? error : unavailable('it cannot be reached or does not answer in time', error);
  });
  if (response.status >= 500 || (response.status >= 300 && response.status < 400))
    throw unavailable(`it answers with status ${response.status}`);
  return response;
}

/** The error for a provider without a usable response. @param cause for operators */
export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('provider_unavailable', `The sign-in provider cannot be used: ${reason}. Try again later.`, {
    details: { retryAfterSeconds: 30 },
    cause,
  });
}

/** Which addresses may be connected to for a URL. @throws AppError provider_unavailable */
function checkOf(url: URL, { isDev, allowsPrivate }: OutgoingRules): (address: string) => boolean {
  const isPlain = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !(isPlain && isDev)) throw unavailable('its URL does not begin with https://');
  return (address) => {
    const range = ipaddr.process(address).range();
    if (range === 'loopback') return isDev;
    return !isPlain && (range === 'unicast' || (allowsPrivate && privateRanges.has(range)));
  };
}

function checkedLookup(mayReach: (address: string) => boolean): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const allowed = found.filter(({ address }) => mayReach(address));
      const [first] = allowed;
      if (!first) return done(unavailable('its address must not be asked'), []);
      if (options.all) return done(null, allowed);
      return done(null, first.address, first.family);
    });
  };
}

function exchange(url: URL, options: RequestOptions, body: unknown): Promise<Response> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? sendEncrypted : sendPlain;
    const outgoing = send(url, options, (incoming) => {
      collect(incoming).then(resolve, reject);
    });
    outgoing.once('error', reject);
    // The library sends forms.
    outgoing.end(body instanceof URLSearchParams || typeof body === 'string' ? String(body) : undefined);
  });
}

async function collect(incoming: IncomingMessage): Promise<Response> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes) throw unavailable(`its answer has more than ${maxBytes} bytes`);
    parts.push(part);
  }
  const type = incoming.headers['content-type'];
  const headers = new Headers(type === undefined ? {} : { 'content-type': type });
  const challenge = incoming.headers['www-authenticate'];
  if (challenge !== undefined) headers.set('www-authenticate', challenge);
  const status = incoming.statusCode ?? 0;
  if (status < 200 || status > 599) throw unavailable(`it answers with status ${status}`);
  return new Response(status === 204 || status === 304 ? null : Buffer.concat(parts), { status, headers });
}
