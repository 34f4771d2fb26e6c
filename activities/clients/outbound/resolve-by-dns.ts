import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

/** Who is asked. */
export interface NameServers {
  /** Each `address:port`; those of the machine when left out. */
  readonly nameServers?: readonly string[];
  /** Time for their answers, in milliseconds. */
  readonly limitMs?: number;
}

/**
 * Addresses of a name by DNS alone. The look-up of the system occupies one of the few threads that a process has for it until the name
 * servers answer, so names of one customer that nobody answers for would hold up the names of all others.
 * @throws the error of a name server that gives no answer, or says that there is no such name
 */
export async function resolveByDns(
  host: string,
  { nameServers, limitMs = 5_000 }: NameServers = {},
): Promise<string[]> {
  const resolver = new Resolver({ timeout: Math.ceil(limitMs / 3), tries: 2 });
  if (nameServers) resolver.setServers(nameServers);
  AbortSignal.timeout(limitMs).addEventListener('abort', () => resolver.cancel(), { once: true });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failed = answers.find((answer) => answer.status === 'rejected');
  // Most names have addresses of one sort only.
  if (found.length === 0 && failed) throw failed.reason;
  return found;
}

/** The same for connections. */
export function lookupByDns(network?: NameServers): LookupFunction {
  const resolve = callbackify((host: string) => resolveByDns(host, network));
  return (host, _options, done) => {
    resolve(host, (error, found) => {
      if (error) done(error, []);
      else
        done(
          null,
          found.map((address) => ({ address, family: isIP(address) })),
        );
    });
  };
}
