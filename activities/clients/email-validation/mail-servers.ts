import type { Resolver } from 'node:dns/promises';
import { unlessAbsent } from '#entities/kit/base/name-servers.ts';

/**
 * The hosts that receive mail for a domain, the preferred ones first: those of its MX records, else the domain itself if it has an
 * address (RFC 5321, section 5.1). None for a domain that says that it receives no mail (RFC 7505).
 * @throws the error of a name server that gives no answer
 */
export async function mailServersOf(resolver: Resolver, domain: string): Promise<string[]> {
  const records = await unlessAbsent(resolver.resolveMx(domain));
  if (records.length === 0) return (await addressesOf(resolver, domain)).length > 0 ? [domain] : [];
  return records
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ exchange }) => exchange)
    .filter((host) => host !== '' && host !== '.');
}

/** IPv4 addresses of a host, then IPv6 addresses. @throws the error of a name server that gives no answer */
export async function addressesOf(resolver: Resolver, host: string): Promise<string[]> {
  const found = await Promise.all([unlessAbsent(resolver.resolve4(host)), unlessAbsent(resolver.resolve6(host))]);
  return found.flat();
}
