/** Label of the name at which a domain says whose single sign-on its people use. */
const label = '_core-single-sign-on';

/** The DNS record with which whoever controls a domain lets an organization vouch for the addresses of the domain. */
interface DomainProof {
  readonly name: string;
  readonly value: string;
}

/**
 * The id of an organization is no secret: what proves the domain is that its zone names this organization. The value names the domain,
 * too: the record of another domain, to which an alias (CNAME) leads, proves nothing.
 */
export function domainProof(organizationId: string, domain: string): DomainProof {
  return { name: `${label}.${domain}`, value: `organization=${organizationId};domain=${domain}` };
}

/** Most organizations that a zone can name with effect. */
export const maxNamed = 50;

/**
 * Ids of the organizations that the zone of a domain names now. It waits for servers elsewhere, so no transaction may be open.
 * @throws the error of a name server that gives no answer
 */
export async function organizationsOfDomain(
  textRecords: (name: string) => Promise<readonly string[]>,
  domain: string,
): Promise<string[]> {
  const texts = new Set((await textRecords(`${label}.${domain}`)).map((text) => text.trim()));
  const named = [...texts].flatMap((text) => /^organization=([0-9A-Z]{26});/.exec(text)?.[1] ?? []);
  return named.filter((id) => texts.has(domainProof(id, domain).value)).slice(0, maxNamed);
}

/**
 * Whether the zone of a domain names the organization now. It waits for servers elsewhere, so no transaction may be open.
 * @throws the error of a name server that gives no answer
 */
export async function provesDomain(
  textRecords: (name: string) => Promise<readonly string[]>,
  organizationId: string,
  domain: string,
): Promise<boolean> {
  const { name, value } = domainProof(organizationId, domain);
  return (await textRecords(name)).some((text) => text.trim() === value);
}
