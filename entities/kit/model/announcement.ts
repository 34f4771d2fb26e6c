import type { EventDraft } from './event-draft.ts';
import type { EventSource } from './events.ts';
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

/** Which organizations besides that of the record an event concerns. */
export function concernedBy(
  { announced }: EventSource,
  row: Readonly<Record<string, unknown>>,
): Pick<EventDraft, 'concerns' | 'concernsMember'> {
  const { concerns, allIfEmpty } = announced ?? {};
  if (!concerns) return {};
  const ids = concerns.flatMap((name) => row[name] ?? []).filter((id) => typeof id === 'string');
  const ofAll = allIfEmpty !== undefined && ids.length === 0 && typeof row['userId'] === 'string';
  return {
    ...(ids.length > 0 ? { concerns: [...new Set(ids)] } : {}),
    ...(ofAll ? { concernsMember: row['userId'] as string } : {}),
  };
}
