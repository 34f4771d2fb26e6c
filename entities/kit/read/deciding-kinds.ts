import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { parentField } from './from-clause.ts';

/** The kinds whose records decide what a caller sees of a kind: its own, and those that its rules and its search look at. */
export function decidingKinds(registry: Registry, module: EntityModule): ReadonlySet<EntityModule> {
  const found = new Set([module]);
  // A set goes through what is added to it meanwhile.
  for (const one of found) for (const other of lookedAt(registry, one)) found.add(other);
  return found;
}

function lookedAt(registry: Registry, module: EntityModule): readonly EntityModule[] {
  const { references } = registry;
  if (module.historyOf) return [module.historyOf, ...parentOf(registry, module.historyOf)];
  const files = references.filesOf(module);
  const granters = (of: EntityModule) => references.grantersOf(of).map((granter) => granter.module);
  const inRules = (module.policy?.view ?? []).flatMap(({ when }): readonly EntityModule[] => {
    switch (when.is) {
      case 'related':
        return granters(module);
      case 'member-of':
        return granters(registry.byKind('organization'));
      case 'through':
        return [references.targetOf(module, when.field)];
      case 'about-hidden': {
        const target = references.maybeTargetOf(module, when.field);
        return target ? [target] : references.kindsOf(module, when.field);
      }
      case 'anyone':
      case 'system':
      case 'signed-in':
      case 'role':
      case 'role-in':
      case 'self':
      case 'scope':
      case 'creators':
        return [];
      default:
        when satisfies never;
        throw new Error('unknown condition');
    }
  });
  return files ? [files, ...inRules] : inRules;
}

/** The parent decides who sees the history of a deleted record. */
function parentOf({ references }: Registry, module: EntityModule): readonly EntityModule[] {
  const field = parentField(module);
  return field === undefined ? [] : [references.targetOf(module, field)];
}
