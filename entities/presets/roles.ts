import type { Role } from '../kit/model/caller.ts';
import { role } from '../kit/model/policy.ts';

/** Roles that manage the whole organization. */
export const managerRoles = ['owner', 'super_admin', 'admin'] as const satisfies readonly Role[];

export function isManager(held: Role | null): boolean {
  return (managerRoles as readonly (Role | null)[]).includes(held);
}

export const managers = role(...managerRoles);

/** Roles that have all rights on every record of the organization. */
export const owners = role('owner', 'super_admin');
