import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { invite, openStatuses } from '#entities/organizations/invite.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { claimedId, expiredToken, invalidToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import { mayGiveRole } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { mayAll } from '#entities/kit/model/policy.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { Call } from '../../http/route.ts';
import { checkLink } from '../identity/account/mailed-link.ts';

export const InviteTokenSchema = Type.String({
  minLength: 1,
  maxLength: 200,
  writeOnly: true,
  description: 'Token of the e-mailed link.',
});

export type Invite = RowOf<typeof invite>;

/** An invitation that can be accepted now. */
export interface UsableInvite {
  readonly invite: Invite;
  readonly organization: RowOf<typeof organization>;
  /** Person who invites; undefined if there is none. */
  readonly inviter: RowOf<typeof user> | undefined;
}

/**
 * The invitation that a mailed token stands for. It stays locked until the end of the transaction, and so does the membership of whoever
 * invites: they still may give the role while it is given.
 * @throws AppError invalid_token, the same for unknown, used, withdrawn and outdated ones; token_expired
 */
export async function usableInvite(call: Call<unknown>, data: DataClient, token: string): Promise<UsableInvite> {
  const { services } = call;
  const id = claimedId('invite', token);
  const found = await data.findLocked(invite, id);
  // Compared for unknown ids, too.
  checkLink(services, 'invite', id, found?.round ?? 1, token);
  if (!found || !openStatuses.includes(found.status)) throw invalidToken('invite');
  if (found.expiresAt !== null && found.expiresAt <= services.clock.now()) throw expired(call, found);
  const inviter = await inviterOf(call, data, found);
  const home = await data.findOne(organization, { id: { eq: found.organizationId } });
  if (!home) throw invalidToken('invite');
  return { invite: found, organization: home, inviter };
}

/** The invitation is marked although the request is refused. */
function expired({ unit }: Call<unknown>, { id, recordVersion }: Invite): AppError {
  unit.recordOutsideRequest('expire invitation', async ({ data }) => {
    const held = await data.findLocked(invite, id);
    if (held?.recordVersion === recordVersion) await data.update(invite, id, { status: 'expired' });
  });
  return expiredToken('invite');
}

/** @throws AppError invalid_token when whoever invites has left, is not active, or may not give this role any more */
async function inviterOf(
  { unit }: Call<unknown>,
  data: DataClient,
  { inviterId, organizationId, role }: Invite,
): Promise<RowOf<typeof user> | undefined> {
  if (inviterId === null) {
    if (mayGiveRole(null, role)) return undefined;
    throw invalidToken('invite');
  }
  const [held] = await data.find(membership, {
    where: { organizationId: { eq: organizationId }, userId: { eq: inviterId } },
    limit: 1,
  });
  if (held) await data.findLocked(membership, held.id);
  const state = await readMembershipState(unit, inviterId, organizationId);
  const inviter = await data.findOne(user, { id: { eq: inviterId } });
  const caller = callerIn(inviterId, organizationId, state, {});
  const mayInvite = mayAll(invite.policy, caller, { kind: invite.kind, operation: 'create' });
  if (inviter?.status !== 'active' || !mayInvite || !mayGiveRole(state.role, role)) throw invalidToken('invite');
  return inviter;
}
