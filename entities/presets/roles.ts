import { role } from '../kit/model/policy.ts';

/** Roles that manage the whole organization. */
export const managers = role('owner', 'super_admin', 'admin');

/** Roles that have all rights on every record of the organization. */
export const owners = role('owner', 'super_admin');
