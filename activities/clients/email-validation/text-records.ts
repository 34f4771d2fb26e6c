import type { Resolver } from 'node:dns/promises';
import { unlessAbsent } from './mail-servers.ts';

/** The text records of a name, each in one piece (RFC 1035, section 3.3.14). @throws the error of a name server that gives no answer */
export async function textRecordsOf(resolver: Resolver, name: string): Promise<string[]> {
  return (await unlessAbsent(resolver.resolveTxt(name))).map((parts) => parts.join(''));
}
