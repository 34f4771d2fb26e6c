import type { Role } from './caller.ts';

/**
 * Endpoints that receive the events of a kind that API tokens cannot read, such as sign-ins, tokens and invitations. A message names the
 * record and the change, and never has a secret.
 */
export interface Announcement<Name extends string> {
  /** People with these roles give endpoints the scope `<kind>:read`. */
  readonly by: readonly Role[];
  /** Of records that belong to a person: fields with the ids of the organizations that a record concerns. */
  readonly concerns?: readonly Name[];
  /** One of these fields: while it is empty, a record concerns all organizations of which the person is a member. */
  readonly allIfEmpty?: Name;
}
