import type { Catalogue, CatalogueEntry, CataloguePrice } from './catalogue.ts';

type Offer = Omit<CatalogueEntry, 'name' | 'prices'>;

const ordered = { kind: 'module', isInTrial: false, isBase: false } as const;
const addOn = { ...ordered, kind: 'addon' } as const;

/** Offers by name; the catalogues have the prices. */
const offers = {
  base: {
    ...ordered,
    displayName: 'Base',
    description: 'People, groups, tasks, files and all else that belongs to no other module.',
    audience: 'public',
    isInTrial: true,
    isBase: true,
  },
  compliance: {
    ...ordered,
    module: 'compliance',
    displayName: 'Compliance',
    description: 'Frameworks, controls, evidence and audits.',
    audience: 'public',
    isInTrial: true,
  },
  trust_center: {
    ...ordered,
    module: 'trust_center',
    displayName: 'Trust center',
    description: 'Public page about the security of the organization.',
    audience: 'public',
    isInTrial: true,
  },
  registry: {
    ...ordered,
    module: 'registry',
    displayName: 'Registry',
    description: 'Assets, systems and the people who answer for them.',
    audience: 'private',
    isInTrial: true,
  },
  entity_management: {
    ...ordered,
    module: 'entity_management',
    displayName: 'Entity management',
    description: 'Vendors and other companies, with their risks.',
    audience: 'private',
  },
  vulnerability_management: {
    ...ordered,
    module: 'vulnerability_management',
    displayName: 'Vulnerability management',
    description: 'Vulnerabilities, findings and their remediation.',
    audience: 'private',
  },
  domain_scanning: {
    ...addOn,
    module: 'domain_scanning',
    displayName: 'Domain scanning',
    description: 'Scans of the domains of the organization.',
    audience: 'private',
  },
  extra_evidence_storage: {
    ...addOn,
    displayName: 'Extra evidence storage',
    description: 'Storage for evidence, in steps of 100 GB.',
    audience: 'public',
  },
  policy_management: {
    ...addOn,
    module: 'policy_management',
    displayName: 'Policy management',
    description: 'Policies and procedures.',
    audience: 'beta',
  },
  risk_management: {
    ...addOn,
    module: 'risk_management',
    displayName: 'Risk management',
    description: 'Risks and what is done about them.',
    audience: 'beta',
  },
} as const satisfies Readonly<Record<string, Offer>>;

/** A catalogue with these prices of the offers, which it has in this order. */
export function catalogueWith(
  prices: Readonly<Partial<Record<keyof typeof offers, readonly CataloguePrice[]>>>,
): Catalogue {
  return Object.entries<Offer>(offers).flatMap(([name, offer]) => {
    const own = prices[name as keyof typeof offers];
    return own ? { name, ...offer, prices: own } : [];
  });
}

/** Price for a month. @param cents US cents */
export function monthly(lookupKey: string, cents: number): CataloguePrice {
  return { lookupKey, interval: 'month', unitAmount: cents, currency: 'usd' };
}

/** Price for a year. @param cents US cents */
export function yearly(lookupKey: string, cents: number): CataloguePrice {
  return { lookupKey, interval: 'year', unitAmount: cents, currency: 'usd' };
}
