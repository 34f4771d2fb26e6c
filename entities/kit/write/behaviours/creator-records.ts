import type { Caller } from '../../model/caller.ts';
import { mayAll } from '../../model/policy.ts';
import type { Registry } from '../../model/registry.ts';
import type { Creation } from '../creations.ts';

/**
 * Adds to each creation the record that makes the person who creates it its manager (`managedBy`): whoever may create a record sees
 * it in the answer and afterwards. People who may edit all records of the kind because of their role need none.
 */
export function withManagers(creations: readonly Creation[], caller: Caller, registry: Registry): Creation[] {
  return creations.map((creation) => withManager(creation, caller, registry));
}

function withManager(creation: Creation, caller: Caller, registry: Registry): Creation {
  const { module, path, children = [] } = creation;
  const below = children.map(({ field, creation: child }) => ({
    field,
    creation: withManager(child, caller, registry),
  }));
  const { managedBy } = module;
  if (!managedBy || caller.kind !== 'user' || mayAll(module.policy, caller, { kind: module.kind, operation: 'edit' }))
    return { ...creation, children: below };
  if (!isMember(caller))
    return { ...creation, input: { ...creation.input, [managedBy.outside]: caller.subjectId }, children: below };
  const manager: Creation = {
    module: registry.byKind(managedBy.kind),
    input: { ...managedBy.values, [managedBy.person]: caller.subjectId },
    path,
    isGranted: true,
  };
  return { ...creation, children: [{ field: managedBy.record, creation: manager }, ...below] };
}

/** Every member of an organization is in one of its managed groups, and nobody else is in a group (entities/groups/group-membership.ts). */
function isMember({ groupIds }: Caller): boolean {
  return groupIds.length > 0;
}
