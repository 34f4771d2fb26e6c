import { allow, anyone, deny, related, role, scope, system, through, type Policy } from '../kit/model/policy.ts';
import { owners } from './roles.ts';

interface Options {
  /** The relation of its owner; the kind grants it. */
  readonly owner?: string;
  /** A reference to a record: who may view that one may view this one. */
  readonly parent?: string;
}

/** Everybody in the organization but auditors creates records; only their owner, and owners of the organization, change them. */
export function ownedRecord({ owner = 'owner', parent }: Options = {}): Policy {
  const inherited = parent === undefined ? [] : [allow(through(parent))];
  const all = [allow(system), allow(owners), allow(scope), allow(related(owner))];
  return {
    view: [...all, ...inherited, deny(anyone)],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope)],
    edit: all,
    remove: all,
  };
}
