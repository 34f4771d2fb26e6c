import { Type } from 'typebox';
import { invite, inviteLifetimeMs, maxResends } from '#entities/organizations/invite.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import type { Invite } from './usable-invite.ts';

const params = Type.Object({ id: Type.String({ maxLength: 26, description: 'Id of the invitation.' }) });

/** Whoever sends an invitation again is its inviter: the rules decide with their own rights whether they may give its role. */
export const resendInvite = defineRoute({
  method: 'POST',
  url: '/v1/invites/:id/resend',
  tag: 'Invites',
  summary: 'Send an invitation again',
  description: `Sends a new link, which works for 14 days; older links stop working. An invitation can be sent again ${maxResends} times, also after it has expired.`,
  access: 'required',
  acceptsSingleSignOn: true,
  params,
  answers: { 202: MessageSchema },
  errors: ['not_found', 'permission_denied', 'already_exists', 'limit_exceeded', 'invalid_input'],
  handle: async (call) => {
    const { unit, services } = call;
    const held = await openInvite(call, ['expired']);
    if (held.round > maxResends)
      throw new AppError(
        'limit_exceeded',
        `This invitation was sent again ${maxResends} times already; withdraw it and invite the address once more.`,
      );
    const { caller } = unit.context;
    const resent = await unit.data.update(invite, held.id, {
      status: 'pending',
      activeRecipient: held.recipient,
      inviterId: caller.kind === 'user' ? caller.subjectId : null,
      round: held.round + 1,
      expiresAt: new Date(services.clock.now().getTime() + inviteLifetimeMs),
    });
    unit.emit(customEvent(invite, 'resent', resent, { round: resent.round }));
    return { status: 202, body: { message: `The invitation is sent to ${held.recipient} again.` } };
  },
});

export const withdrawInvite = defineRoute({
  method: 'POST',
  url: '/v1/invites/:id/withdraw',
  tag: 'Invites',
  summary: 'Withdraw an invitation',
  description: 'Its links stop working, and the address can be invited again.',
  access: 'required',
  acceptsSingleSignOn: true,
  params,
  answers: { 200: MessageSchema },
  errors: ['not_found', 'permission_denied', 'invalid_input'],
  handle: async (call) => {
    const held = await openInvite(call, ['expired']);
    await call.unit.data.update(invite, held.id, { status: 'withdrawn' });
    return { status: 200, body: { message: `The invitation of ${held.recipient} is withdrawn.` } };
  },
});

/** The invitation of the path, locked. @param others statuses besides the open ones @throws AppError not_found, invalid_input */
async function openInvite({ unit, params: { id = '' } }: Call<unknown>, others: readonly string[]): Promise<Invite> {
  const wanted = existingId(invite, id);
  const held = await unit.data.findLocked(invite, wanted);
  if (!held) throw missingRecord(invite, wanted);
  if (!['pending', 'sent', ...others].includes(held.status))
    throw new AppError('invalid_input', `This invitation is ${held.status}; invite the address once more.`);
  return held;
}
