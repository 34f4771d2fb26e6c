import type { Caller } from './caller.ts';
import { isConfined, isWithinReach } from './confinement.ts';
import type { EntityModule } from './define.ts';
import { isModuleEnabled } from './module-gate.ts';
import { decideByCaller, type Operation } from './policy.ts';
import { reachByRules, type Reach } from './reach.ts';
import type { Registry } from './registry.ts';
import { isLimited, isOpenToTokens, isWithinLimits, scopeVerbFor } from './scopes.ts';

/** To which records of a kind a caller has a right by their role, credential and organization, without reading any. */
export function reachOf(registry: Registry, module: EntityModule, caller: Caller, operation: Operation): Reach {
  const { kind, tenancy, rlsUsing } = module;
  if (isConfined(caller) && !isWithinReach(module, operation)) return 'none';
  if (isLimited(caller) && !isOpenToTokens(module, scopeVerbFor(operation))) return 'none';
  if (!isWithinLimits(caller, { kind, operation }) || !isModuleEnabled(module, caller)) return 'none';
  if (tenancy === 'organization' && caller.organizationId === null && !rlsUsing) return 'none';
  return reachByRules(registry, module, operation, (condition, asked) => decideByCaller(condition, caller, asked));
}
