import { allow, anyone, deny, scope, system, type Policy } from '../kit/model/policy.ts';
import { managers } from './roles.ts';

/** Only managers of the organization view and change it. */
export function managedRecord(): Policy {
  return {
    view: [allow(system), allow(managers), allow(scope), deny(anyone)],
    create: [allow(system), allow(managers), allow(scope)],
    edit: [allow(system), allow(managers), allow(scope)],
    remove: [allow(system), allow(managers), allow(scope)],
  };
}
