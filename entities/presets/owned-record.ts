import { allow, anyone, deny, related, role, scope, system, through, type Policy } from '../kit/model/policy.ts';
import { owners } from './roles.ts';

interface Options {
  /** The relation of its owner; the kind grants it. */
  readonly owner?: string;
  /** References to records: who may view one of them may view this one. */
  readonly parents?: readonly string[];
}

/** Everybody in the organization but auditors creates records; only their owner, and owners of the organization, change them. */
export function ownedRecord({ owner = 'owner', parents = [] }: Options = {}): Policy {
  const inherited = parents.map((parent) => allow(through(parent)));
  const all = [allow(system), allow(owners), allow(scope), allow(related(owner))];
  return {
    view: [...all, ...inherited, deny(anyone)],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope)],
    edit: all,
    remove: all,
  };
}
