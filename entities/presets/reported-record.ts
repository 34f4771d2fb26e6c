import { allow, anyone, deny, role, scope, system, type Policy } from '../kit/model/policy.ts';
import { managerRoles } from './roles.ts';

/** Written by the server alone; managers and auditors of the organization view it. */
export function reportedRecord(): Policy {
  return {
    view: [allow(system), allow(role(...managerRoles, 'auditor')), allow(scope), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  };
}
