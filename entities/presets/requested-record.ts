import { allow, anyone, deny, related, role, system, type Policy } from '../kit/model/policy.ts';

/**
 * Work that a person starts and the server does. Only this person sees it and what came of it, not even owners of the organization do:
 * the work has the rights of the person, and others may have fewer.
 */
export function requestedRecord(): Policy {
  return {
    view: [allow(system), allow(related('requestor')), deny(anyone)],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member'))],
    edit: [allow(system), allow(related('requestor'))],
    remove: [allow(system), allow(related('requestor'))],
  };
}
