/** Parts of the product that organizations can have besides its base; rows of `organizationModule` say which they have. */
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

/** The product modules that `ormconfig.modules` gives every caller: all of them, or none so that those of the organization count. */
export function everyModule({ enabled, devmode }: { readonly enabled: boolean; readonly devmode: boolean }): {
  readonly productModules?: readonly ProductModule[];
} {
  return enabled && !devmode ? {} : { productModules };
}
