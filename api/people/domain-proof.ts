import { Type, type Static } from 'typebox';
import { domainProof, provesDomain } from '#entities/kit/base/proven-domain.ts';
import type { Services } from '../http/services.ts';

/** The DNS record with which whoever controls a domain lets an organization vouch for the addresses of the domain. */
export const DomainRecordSchema = Type.Object(
  {
    domain: Type.String({ description: 'Allowed domain.' }),
    record_name: Type.String({ description: 'Name of the TXT record to publish.' }),
    record_value: Type.String({ description: 'Its value; the name can have other records besides.' }),
  },
  { title: 'DomainRecord' },
);

/** The answer of a request that looks for the records. */
export const VerifiedDomainsSchema = Type.Object(
  {
    domains: Type.Array(
      Type.Object({
        ...DomainRecordSchema.properties,
        is_proven: Type.Boolean({ description: 'Whether the record is found.' }),
      }),
    ),
  },
  { title: 'VerifiedDomains' },
);

type DomainRecord = Static<typeof DomainRecordSchema>;

export function domainRecord(organizationId: string, domain: string): DomainRecord {
  const { name, value } = domainProof(organizationId, domain);
  return { domain, record_name: name, record_value: value };
}

/** Looks for the records of domains, of all at the same time. */
export async function verifiedDomains(
  services: Pick<Services, 'textRecords' | 'logger'>,
  organizationId: string,
  domains: readonly string[],
): Promise<Static<typeof VerifiedDomainsSchema>> {
  const verified = domains.map(async (domain) => ({
    ...domainRecord(organizationId, domain),
    is_proven: await isDomainProven(services, organizationId, domain),
  }));
  return { domains: await Promise.all(verified) };
}

/** As `provesDomain` says; a name server that gives no answer proves nothing. */
export async function isDomainProven(
  { textRecords, logger }: Pick<Services, 'textRecords' | 'logger'>,
  organizationId: string,
  domain: string,
): Promise<boolean> {
  try {
    return await provesDomain(textRecords, organizationId, domain);
  } catch (error) {
    logger.warn({ err: error, domain }, 'a domain of a single sign-on is no longer proven: no name server answers');
    return false;
  }
}
