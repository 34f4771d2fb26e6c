import { limitedResolver, unlessAbsent, type NameServers } from '#entities/kit/base/name-servers.ts';

/**
 * The text records of a name, each in one piece (RFC 1035, section 3.3.14).
 * @throws the error of a name server that gives no answer, or none in time
 */
export async function textRecordsOf(network: Partial<NameServers>, name: string): Promise<string[]> {
  return (await unlessAbsent(limitedResolver(network).resolveTxt(name))).map((parts) => parts.join(''));
}
