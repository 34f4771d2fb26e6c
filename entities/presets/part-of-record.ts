import { allow, anyone, deny, scope, system, through, type Policy } from '../kit/model/policy.ts';

/** Part of another record: who may view that one views this one, and who may edit that one creates, edits and deletes this one. */
export function partOfRecord(parent: string): Policy {
  return {
    view: [allow(system), allow(scope), allow(through(parent)), deny(anyone)],
    create: [allow(system), allow(scope), allow(through(parent))],
    edit: [allow(system), allow(scope), allow(through(parent))],
    remove: [allow(system), allow(scope), allow(through(parent))],
  };
}
