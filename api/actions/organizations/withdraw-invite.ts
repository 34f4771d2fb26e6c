import { invite } from '#entities/organizations/invite.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { openInvite } from '../../people/open-invite.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const withdrawInvite = defineAction({
  name: 'withdrawInvite',
  url: '/v1/invites/:id/withdraw',
  tag: 'Invites',
  summary: 'Withdraw an invitation',
  description: 'Its links stop working, and the address can be invited again.',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the invitation.') },
  answer: { invite: selectableRecord(invite), message },
  errors: ['not_found', 'permission_denied', 'rule_violated'],
  run: async ({ unit }, { id }) => {
    const held = await openInvite(unit, id);
    await unit.data.update(invite, held.id, { status: 'withdrawn' });
    return { invite: held.id, message: `The invitation of ${held.recipient} is withdrawn.` };
  },
});
