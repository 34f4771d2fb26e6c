import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Services } from '../services.ts';

/** The source in `ratelimit.headers` that stands for the connection itself. */
const ofConnection = 'remoteaddr';

/** 16-bit groups of an IPv6 address that name a network: one client usually has all addresses of it (RFC 6177). */
const networkGroups = 4;

/** Objects of the configuration that say where the address of a client comes from. */
export type AddressSources = 'ratelimit' | 'ratelimitunmatched';

/** Key by which clients are counted: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function clientNetwork(
  request: FastifyRequest,
  services: Services,
  sources: AddressSources = 'ratelimit',
): string {
  return networkOf(clientAddress(request, services, sources));
}

/**
 * The address that a request comes from, from the sources that the configuration names (`ratelimit.headers`). Other headers are
 * ignored, because clients can send any header.
 */
export function clientAddress(
  request: FastifyRequest,
  services: Services,
  sources: AddressSources = 'ratelimit',
): string {
  const { headers, forwardedindexfrombehind } = services.config.current[sources];
  for (const source of headers) {
    const name = source.toLowerCase();
    const address = name === ofConnection ? addressOf(request) : addressIn(request, name, forwardedindexfrombehind);
    if (address !== undefined && isIP(address) > 0) return address;
  }
  return addressOf(request);
}

/** The address of the other end; that of this machine for a Unix socket, which has none. */
function addressOf({ ip }: { readonly ip?: string }): string {
  return ip ?? '127.0.0.1';
}

function addressIn({ headers }: FastifyRequest, name: string, fromBehind: number): string | undefined {
  const value = headers[name];
  const text = Array.isArray(value) ? value.join() : value;
  if (name !== 'x-forwarded-for') return text?.trim();
  const addresses = text?.split(',').map((one) => one.trim()) ?? [];
  // Of fewer addresses than expected, the first.
  return addresses.at(Math.max(-addresses.length, -1 - fromBehind));
}

function networkOf(address: string): string {
  // An IPv4 address in an IPv6 address (RFC 4291, section 2.5.5.2) is the IPv4 address.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, networkGroups);
  return `${new ipaddr.IPv6([...network, 0, 0, 0, 0]).toString()}/${16 * networkGroups}`;
}
