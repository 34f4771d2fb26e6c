/** Parts of the product that an organization can enable in addition to its base, as records of the kind `organizationModule`. */
export const productModules = [
  'compliance',
  'entity_management',
  'policy_management',
  'registry',
  'risk_management',
  'trust_center',
  'vulnerability_management',
] as const;

export type ProductModule = (typeof productModules)[number];

/** All product modules for every caller, unless `ormconfig.modules` enables the check of those that the organization has. */
export function everyModule({ enabled, devmode }: { readonly enabled: boolean; readonly devmode: boolean }): {
  readonly productModules?: readonly ProductModule[];
} {
  return enabled && !devmode ? {} : { productModules };
}
