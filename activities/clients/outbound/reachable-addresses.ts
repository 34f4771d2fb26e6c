import ipaddr from 'ipaddr.js';

/** Which servers may be asked, besides public ones over HTTPS. All of it is off for the URLs of customers in production. */
export interface Reach {
  /** Servers of the same machine, also without encryption. */
  readonly loopback?: boolean;
  /** Servers in private networks. */
  readonly private?: boolean;
  /** Addresses that are valid on one link only, among them the metadata services of clouds. */
  readonly linkLocal?: boolean;
  /** Private and link-local addresses are asked without encryption as well. */
  readonly plain?: boolean;
}

/** The block of IPv6 that is in use for public addresses (RFC 4291, section 2.4). */
const publicBlock = ipaddr.parseCIDR('2000::/3');

const privateRanges: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat']);

/** Names that mean something in one network only, and those under which clouds offer their metadata. */
const localName = /(?:^|\.)(?:internal|local|localhost|localdomain|home\.arpa)\.?$/i;

/**
 * Whether an address may be connected to (RFC 6890 and OWASP, Server-Side Request Forgery Prevention). Addresses that are neither public
 * nor named by `reach` are never asked: unspecified, multicast, documentation and translation prefixes.
 * @param address IPv4 or IPv6, without brackets
 */
export function isReachable(address: string, isPlain: boolean, reach: Reach): boolean {
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback') return reach.loopback ?? false;
  const isOpenPlain = !isPlain || (reach.plain ?? false);
  if (privateRanges.has(range)) return isOpenPlain && (reach.private ?? false);
  if (range === 'linkLocal') return isOpenPlain && (reach.linkLocal ?? false);
  return !isPlain && range === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(publicBlock));
}

/** Whether servers of the own machine or network may be asked; their names need not be in DNS. */
export function reachesOwnNetwork(reach: Reach): boolean {
  return (reach.loopback ?? false) || (reach.private ?? false);
}

/** Whether a host name can only be that of a server in the same network. */
export function isLocalName(host: string): boolean {
  return localName.test(host) || !host.replace(/\.$/, '').includes('.');
}
