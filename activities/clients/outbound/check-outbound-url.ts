import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import { addressCheckOf, hostOf, OutboundError } from './outbound-request.ts';
import { isLocalName, reachesOwnNetwork, type Reach } from './reachable-addresses.ts';
import { resolveByDns } from './resolve-by-dns.ts';

const resolveMs = 5_000;

/** Addresses of a name. @throws Error when it has none */
type Resolve = (host: string) => Promise<readonly string[]>;

const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * Problem of a URL that a customer gives, as the end of a sentence; undefined when it can be asked now. It is checked again at each
 * request, because names change.
 */
export async function outboundUrlProblem(
  text: string,
  reach: Reach,
  resolve: Resolve = reachesOwnNetwork(reach) ? resolveBySystem : resolveByDns,
): Promise<string | undefined> {
  if (!URL.canParse(text)) return 'must be a URL such as https://example.com/path';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'contains credentials, which would be stored readable';
  if (url.hash !== '') return 'has a fragment, which is not sent';
  let mayReach: (address: string) => boolean;
  try {
    mayReach = addressCheckOf(url, reach);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return error.message === 'its address must not be asked' ? notPublic : notEncrypted;
  }
  const host = hostOf(url);
  if (isIP(host) > 0) return undefined;
  if (isLocalName(host) && !reach.private) return notPublic;
  const addresses = await withTimeout(resolve(host), resolveMs, () => undefined).catch(() => undefined);
  if (addresses === undefined || addresses.length === 0) return 'has a host name that cannot be resolved';
  // Which of several addresses a later request finds first is decided by whoever answers for the name.
  return addresses.every(mayReach) ? undefined : notPublic;
}

export const notPublic = 'does not lead to a public address';

export const notEncrypted = 'does not begin with https://';
