import { lookup as systemLookup } from 'node:dns';
import { request as sendPlain, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as sendEncrypted } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isReachable, reachesOwnNetwork, type Reach } from './reachable-addresses.ts';
import { lookupByDns } from './resolve-by-dns.ts';

/** A request to a server that this one does not control. */
interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface OutboundLimits {
  readonly reach: Reach;
  /** Maximum duration, the answer included, in milliseconds. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Size of its beginning that is kept; default: all of it. */
  readonly keptBytes?: number;
  readonly signal?: AbortSignal;
  /** Resolves names; default: DNS, or the system where it knows names of its own network. */
  readonly lookup?: LookupFunction;
}

export interface OutboundResponse {
  /** Also 3xx: redirects are not followed. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent: content codings are not undone. */
  readonly body: Buffer;
}

/** Why a request has no usable response. Its message ends a sentence about the server. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
}

/**
 * The only way to a URL that a customer has given. Names are resolved once: the address that is checked is the one that is connected to.
 * Redirects are not followed, proxies of the environment are not used, and the answer is limited in time and size.
 * @throws OutboundError
 */
export async function outboundRequest(
  target: string,
  request: OutboundRequest,
  { reach, timeoutMs, maxBytes, keptBytes = maxBytes, signal, lookup = lookupOf(reach) }: OutboundLimits,
): Promise<OutboundResponse> {
  const url = new URL(target);
  const mayReach = addressCheckOf(url, reach);
  const timeout = AbortSignal.timeout(timeoutMs);
  const end = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const options: RequestOptions = {
    method: request.method,
    headers: { ...request.headers, 'accept-encoding': 'identity' },
    // A connection of its own: pooled ones would have been checked for somebody else.
    agent: false,
    lookup: checkedLookup(lookup, mayReach),
    signal: end,
  };
  try {
    return await exchange(url, options, { body: request.body, maxBytes, keptBytes, end });
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    const reason = timeout.aborted
      ? `it does not answer within ${timeoutMs / 1_000} seconds`
      : `it cannot be reached${codeOf(error)}`;
    throw new OutboundError(reason, { cause: error });
  }
}

/** Which addresses may be connected to for a URL. @throws OutboundError for one that is never asked */
export function addressCheckOf(url: URL, reach: Reach): (address: string) => boolean {
  const isPlain = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !(isPlain && (reach.loopback || reach.plain)))
    throw new OutboundError('its URL does not begin with https://');
  const mayReach = (address: string) => isReachable(address, isPlain, reach);
  const host = hostOf(url);
  if (isIP(host) > 0 && !mayReach(host)) throw new OutboundError('its address must not be asked');
  return mayReach;
}

/** The host of a URL, an IPv6 address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$/g, '');
}

/** Names of the own network come from files and search domains, which only the system reads. */
function lookupOf(reach: Reach): LookupFunction {
  return reachesOwnNetwork(reach) ? systemLookup : lookupByDns();
}

function checkedLookup(lookup: LookupFunction, mayReach: (address: string) => boolean): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const allowed = (Array.isArray(found) ? found : []).filter(({ address }) => mayReach(address));
      const [first] = allowed;
      if (!first) return done(new OutboundError('its address must not be asked'), []);
      if (options.all) return done(null, allowed);
      return done(null, first.address, first.family);
    });
  };
}

interface Exchange {
  readonly body: string | undefined;
  readonly maxBytes: number;
  readonly keptBytes: number;
  readonly end: AbortSignal;
}

function exchange(url: URL, options: RequestOptions, request: Exchange): Promise<OutboundResponse> {
  const { body, end } = request;
  const { promise, resolve, reject } = Promise.withResolvers<OutboundResponse>();
  const send = url.protocol === 'https:' ? sendEncrypted : sendPlain;
  const outgoing = send(url, options, (incoming) => {
    collect(incoming, request).then(resolve, reject);
  });
  outgoing.on('error', reject);
  // Without this listener, Node closes the connection and reports neither a response nor an error.
  outgoing.once('upgrade', (_incoming, socket) => {
    socket.destroy();
    reject(new OutboundError('it switches to another protocol'));
  });
  // Any other failure that a connection does not report: nobody waits longer than said.
  const giveUp = () => reject(end.reason as Error);
  end.addEventListener('abort', giveUp, { once: true });
  outgoing.end(body);
  return promise.finally(() => end.removeEventListener('abort', giveUp));
}

async function collect(
  incoming: IncomingMessage,
  { maxBytes, keptBytes }: Pick<Exchange, 'maxBytes' | 'keptBytes'>,
): Promise<OutboundResponse> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes) throw new OutboundError(`its answer has more than ${maxBytes} bytes`);
    const kept = part.subarray(0, Math.max(0, keptBytes - (size - part.length)));
    // A copy: the part belongs to a larger piece of memory.
    if (kept.length > 0) parts.push(keptBytes < maxBytes ? Buffer.from(kept) : kept);
  }
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(parts) };
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== 'ABORT_ERR' ? ` (${code})` : '';
}
