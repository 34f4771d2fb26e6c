import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';

/** The kinds whose records decide what a caller sees of a kind: its own, and those that its rules and its search look at. */
export function decidingKinds(registry: Registry, module: EntityModule): ReadonlySet<EntityModule> {
  const found = new Set([module]);
  // A set goes through what is added to it meanwhile.
  for (const one of found) for (const other of lookedAt(registry, one)) found.add(other);
  return found;
}

function lookedAt({ references, byKind }: Registry, module: EntityModule): readonly EntityModule[] {
  if (module.historyOf) return [module.historyOf];
  const files = references.filesOf(module);
  const granters = (of: EntityModule) => references.grantersOf(of).map((granter) => granter.module);
  const inRules = (module.policy?.view ?? []).flatMap(({ when }): readonly EntityModule[] => {
    switch (when.is) {
      case 'related':
        return granters(module);
      case 'member-of':
        return granters(byKind('organization'));
      case 'through':
        return [references.targetOf(module, when.field)];
      case 'about-hidden': {
        const target = references.maybeTargetOf(module, when.field);
        return target ? [target] : references.kindsOf(module, when.field);
      }
      default:
        return [];
    }
  });
  return files ? [files, ...inRules] : inRules;
}
