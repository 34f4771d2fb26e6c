import { allow, anyone, deny, ownScope, related, role, scope, system, type Policy } from '../kit/model/policy.ts';
import { managerRoles } from './roles.ts';

/** Rights of an API token on its own work, within its scopes. Managers give it the scopes without seeing the work themselves. */
const ownWork = allow(ownScope('tokenId', ...managerRoles));

/**
 * Work that a person or an API token starts and the server does. Nobody else sees it and what came of it, not even owners of the
 * organization do: the work has the rights of who started it, and others may have fewer.
 */
export function requestedRecord(): Policy {
  return {
    view: [allow(system), ownWork, allow(related('requestor')), deny(anyone)],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope)],
    edit: [allow(system), ownWork, allow(related('requestor'))],
    remove: [allow(system), ownWork, allow(related('requestor'))],
  };
}
