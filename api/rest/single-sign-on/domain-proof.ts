import { Type, type Static } from 'typebox';
import type { Services } from '../../http/services.ts';

/** Label of the name at which a domain says whose single sign-on its people use. */
const label = '_core-single-sign-on';

/** The DNS record with which whoever controls a domain lets an organization vouch for the addresses of the domain. */
export const DomainRecordSchema = Type.Object({
  domain: Type.String({ description: 'Allowed domain.' }),
  record_name: Type.String({ description: 'Name of the TXT record to publish.' }),
  record_value: Type.String({ description: 'Its value; the name can have other records besides.' }),
});

export type DomainRecord = Static<typeof DomainRecordSchema>;

/**
 * The id of an organization is no secret: what proves the domain is that its zone names this organization. The value names the domain,
 * too: the record of another domain, to which an alias (CNAME) leads, proves nothing.
 */
export function domainRecord(organizationId: string, domain: string): DomainRecord {
  return { domain, record_name: `${label}.${domain}`, record_value: `organization=${organizationId};domain=${domain}` };
}

/**
 * Whether the zone of a domain names the organization now. A name server that gives no answer proves nothing. It may wait for servers
 * elsewhere, so no transaction may be open.
 */
export async function isDomainProven(
  { textRecords, logger }: Pick<Services, 'textRecords' | 'logger'>,
  organizationId: string,
  domain: string,
): Promise<boolean> {
  const { record_name: name, record_value: value } = domainRecord(organizationId, domain);
  try {
    return (await textRecords(name)).some((text) => text.trim() === value);
  } catch (error) {
    logger.warn({ err: error, domain }, 'a domain of a single sign-on counts as not proven: no name server answers');
    return false;
  }
}
