import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { limitedResolver, type NameServers } from '#entities/kit/base/name-servers.ts';

/**
 * Addresses of a name by DNS alone. The look-up of the system occupies one of the few threads that a process has for it until the name
 * servers answer, so names of one customer that nobody answers for would hold up the names of all others.
 * @throws the error of a name server that gives no answer, or says that there is no such name
 */
export async function resolveByDns(host: string, network: Partial<NameServers> = {}): Promise<string[]> {
  const resolver = limitedResolver(network);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failed = answers.find((answer) => answer.status === 'rejected');
  // Most names have addresses of one sort only.
  if (found.length === 0 && failed) throw failed.reason;
  return found;
}

/** The same for connections. */
export function lookupByDns(network?: Partial<NameServers>): LookupFunction {
  const lookup = callbackify(async (host: string) =>
    (await resolveByDns(host, network)).map((address) => ({ address, family: isIP(address) })),
  );
  return (host, _options, done) => lookup(host, (error, addresses) => done(error, addresses));
}
