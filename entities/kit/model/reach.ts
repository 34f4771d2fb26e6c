import type { EntityModule } from './define.ts';
import { afterTheRules, operationAbove, type Asked, type Condition, type Operation } from './policy.ts';
import type { Registry } from './registry.ts';

/** To which records of a kind a right extends. For creations: whatever the values are, or depending on them. */
export type Reach = 'all' | 'some' | 'none';

/** Whether a condition applies to a caller; undefined when that depends on the record. */
type Decide = (condition: Condition, asked: Asked) => boolean | undefined;

/** To which records the rules of a kind extend an operation, also because of the right to all records above them. */
export function reachByRules(registry: Registry, module: EntityModule, operation: Operation, decide: Decide): Reach {
  let isAllowedSome = false;
  let isDeniedSome = false;
  const ended = (isAllowed: boolean): Reach => {
    if (isAllowed) return isDeniedSome ? 'some' : 'all';
    return isAllowedSome ? 'some' : 'none';
  };
  for (const { effect, when } of module.policy?.[operation] ?? []) {
    const hidden = when.is === 'about-hidden' ? registry.references.maybeTargetOf(module, when.field) : undefined;
    // Nothing is hidden from whoever may view all records of the kind.
    if (hidden && reachByRules(registry, hidden, 'view', decide) === 'all') continue;
    const above = when.is === 'through' ? requiredTarget(registry, module, when.field) : undefined;
    const applies = above
      ? decided[reachByRules(registry, above, operationAbove(operation), decide)]
      : decide(when, { kind: module.kind, operation });
    if (applies === true) return ended(effect === 'allow');
    if (applies === undefined && effect === 'allow') isAllowedSome = true;
    if (applies === undefined && effect === 'deny') isDeniedSome = true;
  }
  return ended(afterTheRules[operation]);
}

/** Whether a right in the records above applies, by its reach there. */
const decided = { all: true, some: undefined, none: false } as const satisfies Record<Reach, boolean | undefined>;

/** The kind of the records above, if each record is below one of another kind. */
function requiredTarget({ references }: Registry, module: EntityModule, field: string): EntityModule | undefined {
  const target = references.targetOf(module, field);
  return module.fields[field]?.optional || target === module ? undefined : target;
}
