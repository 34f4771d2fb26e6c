import { Resolver } from 'node:dns/promises';

/** Servers that are asked for DNS records, and the time for it. */
export interface NameServers {
  /** Each `address:port`; those of the machine when left out. */
  readonly nameServers?: readonly string[];
  /** Time for all questions, in milliseconds. */
  readonly limitMs: number;
}

/** Asks name servers until the signal ends it. */
export function resolverOf({ nameServers, limitMs }: NameServers, signal: AbortSignal): Resolver {
  const resolver = new Resolver({ timeout: Math.ceil(limitMs / 3), tries: 2 });
  if (nameServers) resolver.setServers(nameServers);
  signal.addEventListener('abort', () => resolver.cancel());
  return resolver;
}

/** Time for all questions when no other is given, in milliseconds. */
const defaultLimitMs = 5_000;

/** Asks name servers for a limited time. */
export function limitedResolver(network: Partial<NameServers>): Resolver {
  const limited = { limitMs: defaultLimitMs, ...network };
  return resolverOf(limited, AbortSignal.timeout(limited.limitMs));
}

/** Answers that say that there is no such name, or none with such a record (RFC 2308). */
const absent: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA']);

/** The records of an answer; none where it says that there are none. @throws the error of a name server that gives no answer */
export async function unlessAbsent<T>(answer: Promise<T[]>): Promise<T[]> {
  try {
    return await answer;
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code)) return [];
    throw error;
  }
}
