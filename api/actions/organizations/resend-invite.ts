import { invite, inviteLifetimeMs, maxResends } from '#entities/organizations/invite.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { openInvite } from '../../people/open-invite.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** The person who does so is its inviter: the rules decide with their own rights whether they may give its role. */
export const resendInvite = defineAction({
  name: 'resendInvite',
  url: '/v1/invites/:id/resend',
  tag: 'Invites',
  summary: 'Send an invitation again',
  description: `Sends a new link, which works for 14 days; older links stop working. An invitation can be sent again ${maxResends} times, also after it has expired.`,
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the invitation.') },
  answer: { invite: selectableRecord(invite), message },
  status: 202,
  errors: ['not_found', 'permission_denied', 'already_exists', 'limit_exceeded', 'rule_violated'],
  run: async ({ unit, services }, { id }) => {
    const held = await openInvite(unit, id);
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
    return { invite: resent.id, message: `The invitation is sent to ${resent.recipient} again.` };
  },
});
