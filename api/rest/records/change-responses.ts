import type { FastifyReply } from 'fastify';
import { unlessHidden, type RecordJson } from '#entities/kit/unit/answers.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { RecordSelection } from '#entities/kit/read/selection.ts';
import { canHold } from '#entities/kit/write/change-behaviour.ts';
import type { Call, RouteResponse } from '../../http/route.ts';
import { heldIn, linkProposals } from './held-fields.ts';
import { sendEntityTag } from './record-version.ts';

/** The response to a deletion, which may be held. */
export function deleted(id: string, { unit, reply }: Pick<Call<unknown>, 'unit' | 'reply'>): RouteResponse {
  if (!unit.data.isHeld(id)) return { status: 204, body: undefined };
  linkProposals([id], unit, reply);
  return { status: 202, body: { held: heldIn([id], unit) } };
}

/** Sentence of descriptions of changes that can be held. */
export function heldNote({ automation }: EntityModule): string {
  return automation
    ? ' Fields that wait for an approval (workflows) are listed in `held`, and the header Link names their proposals; the status is 202 if nothing else was changed.'
    : '';
}

/**
 * The response to a change: the record, or its id alone when the change ended the caller's own view of it. The change is valid, so it
 * must not fail because of its response.
 */
export async function changed(
  status: number,
  record: RecordSelection,
  id: string,
  unit: UnitOfWork,
  reply: FastifyReply,
): Promise<RouteResponse> {
  const body = await unlessHidden(unit.data.answers.record(record, id));
  if (body) sendEntityTag(reply, body);
  const held = status === 201 ? {} : heldOf(record, id, unit);
  linkProposals([id], unit, reply);
  return body ? { status, body: { ...body, ...held } } : { status, json: JSON.stringify({ id, ...held }) };
}

/** Fields of the change that were not written; nothing for a kind that holds none. */
function heldOf({ module }: RecordSelection, id: string, unit: UnitOfWork): RecordJson {
  return canHold(module) ? { held: heldIn([id], unit) } : {};
}
