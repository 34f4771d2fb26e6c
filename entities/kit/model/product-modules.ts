import type { Caller } from './caller.ts';
import type { EntityModule } from './define.ts';
import { AppError } from '../base/errors.ts';

/** What organizations may use of the product beyond its base, each by itself; `organizationModule` says which ones do. */
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

/** What `ormconfig.modules` says of every caller: nothing while each organization's own product modules count. */
export function everyModule({ enabled, devmode }: { readonly enabled: boolean; readonly devmode: boolean }): {
  readonly productModules?: readonly ProductModule[];
} {
  return enabled && !devmode ? {} : { productModules };
}

/** Whether the caller's organization may use one of the product modules that a kind is part of. */
export function isSwitchedOn({ productModules }: EntityModule, caller: Caller): boolean {
  return productModules === undefined || productModules.some((name) => caller.productModules.includes(name));
}

/**
 * Refuses what names a kind that is not there for the organization at all. Where a kind is only come by (from another record, by
 * an id, in a search of everything), it has no records.
 * @throws AppError module_not_enabled
 */
export function refuseSwitchedOff(module: EntityModule, caller: Caller): void {
  const kind = module.historyOf ?? module;
  if (isSwitchedOn(kind, caller)) return;
  throw new AppError(
    'module_not_enabled',
    `${kind.typeName} is part of the product module ${(kind.productModules ?? []).join(' or ')}, which this organization does not have.`,
  );
}
