import { allow, anyone, deny, system, type Policy } from '../kit/model/policy.ts';

/** For the server alone. */
export function internalRecord(): Policy {
  return {
    view: [allow(system), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  };
}
