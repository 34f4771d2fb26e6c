import { resolverOf, unlessAbsent, type NameServers } from '#entities/kit/base/name-servers.ts';

/** Time for a question when no other is given, in milliseconds. */
const defaultLimitMs = 5_000;

/**
 * The text records of a name, each in one piece (RFC 1035, section 3.3.14).
 * @throws the error of a name server that gives no answer, or none in time
 */
export async function textRecordsOf(network: Partial<NameServers>, name: string): Promise<string[]> {
  const limited = { limitMs: defaultLimitMs, ...network };
  const resolver = resolverOf(limited, AbortSignal.timeout(limited.limitMs));
  return (await unlessAbsent(resolver.resolveTxt(name))).map((parts) => parts.join(''));
}
