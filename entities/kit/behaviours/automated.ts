import { readGates } from '../access/principal-state.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import { organizationOf } from '../model/recorded-changes.ts';
import type { ChangeBehaviour } from '../write/change-behaviour.ts';
import type { ChangeWork, GateRequest } from '../write/change-work.ts';
import type { AppError } from '../base/errors.ts';
import type { HeldField, HoldRequest } from '../write/held-changes.ts';

/** Part of a kind that workflows know. */
interface Automated<Name extends string> {
  /** Fields whose changes can be held until they are approved, and that actions of workflows can set. */
  readonly fields: readonly Name[];
}

/**
 * Behaviour: workflows react to changes of the records, and can hold changes of these fields and deletions until people approve them
 * (docs/decisions/gates-in-the-request.md). The work of the server itself, and what follows from a change, such as the deletion of
 * dependents, is never held.
 */
export function automated<const Name extends string>({ fields }: Automated<Name>): ChangeBehaviour<Name> {
  return {
    fields,
    traits: { automation: { fields } },
    hold: async (work, caller, request) => {
      const held = new Map<string, readonly HeldField[] | AppError>();
      for (const gated of await gatedChanges(work, caller, request))
        for (const [id, own] of (await work.options.gates?.hold(work, caller, gated)) ?? []) held.set(id, own);
      return held;
    },
    recordHeld: async (work, caller, request) => work.options.gates?.record(work, caller, request),
  };
}

/** The changes that gates can hold, one request for each organization that has gates. */
async function gatedChanges(work: ChangeWork, caller: Caller, request: HoldRequest): Promise<GateRequest[]> {
  if (!work.options.gates?.isEnabled() || databaseRoleOf(caller) === 'system') return [];
  const { module } = request;
  const changes = request.changes.filter(({ row }) => !work.passing.has(row['id'] as string));
  const requests: GateRequest[] = [];
  for (const [organizationId, own] of Map.groupBy(changes, ({ row }) => organizationOf(module, row))) {
    const gates = organizationId === null ? [] : await gatesIn(work, caller, organizationId);
    if (gates.length > 0) requests.push({ ...request, changes: own, gates });
  }
  return requests;
}

/**
 * The gates in force. A person's were read again under the lock of the record (`refreshCaller`), for the organization in which they act; they can
 * change own records of others. Those of other callers, such as API tokens, are from the beginning of the request, so they are read here.
 */
async function gatesIn(work: ChangeWork, caller: Caller, organizationId: string): Promise<readonly string[]> {
  const isKnown = caller.kind === 'user' && caller.gates !== null && caller.organizationId === organizationId;
  return isKnown ? caller.gates : readGates(work, organizationId);
}
