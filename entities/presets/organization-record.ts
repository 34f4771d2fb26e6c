import { roles } from '../kit/model/caller.ts';
import { allow, anyone, deny, role, scope, system, type Policy } from '../kit/model/policy.ts';
import { managers } from './roles.ts';

/** Everybody in the organization views it; its managers change it. */
export function organizationRecord(): Policy {
  return {
    view: [allow(system), allow(role(...roles)), allow(scope), deny(anyone)],
    create: [allow(system), allow(managers), allow(scope)],
    edit: [allow(system), allow(managers), allow(scope)],
    remove: [allow(system), allow(managers), allow(scope)],
  };
}
