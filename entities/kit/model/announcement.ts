import type { Role } from './caller.ts';

/**
 * To which endpoints the events of a kind go whose records API tokens do not read: sign-ins, tokens, invitations. A message names the
 * record and what has happened to it, and never has a secret.
 */
export interface Announcement<Name extends string> {
  /** People with these roles give endpoints the scope `<kind>:read`. */
  readonly by: readonly Role[];
  /** Of records that belong to a person: fields with the ids of the organizations that a record concerns. */
  readonly concerns?: readonly Name[];
  /** One of these fields: while it is empty, a record concerns all organizations of which the person is a member. */
  readonly allIfEmpty?: Name;
}
