import type { Resolver } from 'node:dns/promises';

/** Answers that say that there is no such name, or none with such a record (RFC 2308). */
const absent: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA']);

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

/** The records of an answer; none where it says that there are none. @throws the error of a name server that gives no answer */
export async function unlessAbsent<T>(answer: Promise<T[]>): Promise<T[]> {
  try {
    return await answer;
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code)) return [];
    throw error;
  }
}
