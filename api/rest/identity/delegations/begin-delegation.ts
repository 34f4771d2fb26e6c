import { Type, type Static } from 'typebox';
import { delegation } from '#entities/identity/delegation.ts';
import { readDelegationState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { CreationInput } from '#entities/kit/model/field-values.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { clientAddress } from '../../../http/limits/client-address.ts';
import type { Call } from '../../../http/route.ts';

/** Maximum duration of a delegation, in minutes. */
export const maxMinutes = 60;

export const ReasonField = Type.String({
  minLength: 10,
  maxLength: 250,
  description: 'Why the access is needed. Managers and auditors of the organization read it.',
});

export const DelegationSchema = Type.Object(
  {
    access_token: Type.String({
      description: 'Token; send it in the Authorization header as bearer token. It cannot be refreshed.',
    }),
    token_type: Type.Literal('Bearer', { description: 'Type of the token.' }),
    expires_in: Type.Integer({ description: 'Seconds until the access ends.' }),
    delegation_id: Type.String({ description: 'Id of the record of the access; see /v1/delegations.' }),
    organization_id: Type.String({ description: 'Id of the organization in which alone the token is valid.' }),
    subject_id: Type.String({ description: 'Id of the person, or of the support identity, as whom it acts.' }),
  },
  { title: 'DelegationToken' },
);

type NewDelegation = Omit<CreationInput<(typeof delegation)['fields']>, 'address'> & {
  readonly organizationId: string;
  readonly expiresAt: Date;
};

/**
 * Records an access and returns its token. The record is written in the unit of work that answers, so there is no token without it, and
 * the state by which requests are judged later is read here first: what it does not allow does not begin.
 * @param refusal the message for an access that the state does not allow
 * @throws AppError permission_denied
 */
export async function beginDelegation(
  { unit, request, services }: Call<unknown>,
  values: NewDelegation,
  refusal: string,
): Promise<{ readonly status: 201; readonly body: Static<typeof DelegationSchema> }> {
  const { organizationId, expiresAt } = values;
  const data = unit.data.privileged('begin delegation');
  const begun = await data.create(delegation, { ...values, address: clientAddress(request, services) });
  const state = await readDelegationState(unit, { delegationId: begun.id, organizationId });
  const endsAt = new Date(Math.min(expiresAt.getTime(), Date.parse(state.delegation?.expiresAt ?? '')));
  const now = services.clock.now();
  if (!state.isSignedIn || !state.isActive || !(endsAt > now)) throw new AppError('permission_denied', refusal);
  const { type, subjectId, actorId } = begun;
  unit.emit(customEvent(delegation, 'begun', begun, { type, subjectId }));
  const token = await services.delegationTokens.issue({
    delegationId: begun.id,
    type,
    organizationId,
    subjectId,
    actorId,
    expiresAt: endsAt,
  });
  return {
    status: 201,
    body: {
      access_token: token,
      token_type: 'Bearer',
      expires_in: Math.floor((endsAt.getTime() - now.getTime()) / 1_000),
      delegation_id: begun.id,
      organization_id: organizationId,
      subject_id: subjectId,
    },
  };
}
