import { Type } from 'typebox';
import { delegation } from '#entities/identity/delegation.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { MessageSchema, idSchema } from '../../../http/request-schemas.ts';
import { defineRoute, type Call, type RouteResponse } from '../../../http/route.ts';

export const endDelegation = defineRoute({
  method: 'POST',
  url: '/v1/delegation/end',
  operationId: 'endDelegation',
  tag: 'Acting as another user',
  summary: 'End acting as another user',
  description:
    'Ends the access of the token of the request: it stops working immediately. Managers of the organization end that of others with POST /v1/delegations/{id}/end. The record of the access stays.',
  access: 'required',
  answersCredential: true,
  // Those of delegations; it refuses all others.
  acceptsTokens: true,
  answers: { 200: MessageSchema },
  errors: ['permission_denied'],
  handle: (call) => {
    const held = call.unit.context.caller.delegation;
    if (!held)
      throw new AppError('permission_denied', 'Only the token of the access itself ends it here; send that token.');
    return end(call, call.unit.data.privileged('end delegation'), held.id);
  },
});

export const endDelegationOfAnother = defineRoute({
  method: 'POST',
  url: '/v1/delegations/:id/end',
  operationId: 'endDelegationOfAnother',
  tag: 'Acting as another user',
  summary: 'End the access of a person who acts as another user',
  description:
    'For owners and admins of the organization. The token of the access stops working immediately; the record of the access stays.',
  access: 'required',
  answersCredential: true,
  // The record belongs to the organization.
  acceptsSingleSignOn: true,
  params: Type.Object({ id: idSchema('Id of the record of the access.') }),
  answers: { 200: MessageSchema },
  errors: ['not_found', 'permission_denied'],
  handle: (call) => end(call, call.unit.data, existingId(delegation, call.params['id'] ?? '')),
});

/** Nobody deletes the record, which says who has acted: it only gets its end, once. */
async function end({ services }: Call<unknown>, data: DataClient, id: string): Promise<RouteResponse> {
  const held = await data.findLocked(delegation, id);
  if (!held) throw missingRecord(delegation, id);
  // A caller who may not end it learns so, also of one that has ended.
  const endedAt = held.endedAt ?? services.clock.now();
  await data.update(delegation, id, { endedAt });
  return { status: 200, body: { message: 'The access has ended.' } };
}
