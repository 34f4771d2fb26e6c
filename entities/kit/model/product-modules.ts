/** Parts of the product that an organization can enable in addition to its base, as records of the kind `organizationModule`. */
export const productModules = [
  'compliance',
  'domain_scanning',
  'entity_management',
  'policy_management',
  'registry',
  'risk_management',
  'trust_center',
  'vulnerability_management',
] as const;

export type ProductModule = (typeof productModules)[number];

/** Why an organization has a product module: part of every plan, of its trial, of a subscription, or granted by an operator. */
export const moduleSources = ['base', 'trial', 'subscription', 'granted'] as const;

export type ModuleSource = (typeof moduleSources)[number];

/** A product module of an organization: values of a record of the kind `organizationModule`. */
export interface Entitlement {
  readonly module: ProductModule;
  readonly source: ModuleSource;
  /** Null: until it is taken away. */
  readonly endsAt: Date | null;
}
