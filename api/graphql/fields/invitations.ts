import { invite, maxResends } from '#entities/organizations/invite.ts';
import { resendInvite as resend, withdrawInvite as withdraw } from '../../people/open-invites.ts';
import { recordAct } from '../derived/record-act.ts';

const about = 'Id of the invitation.';

/** Hand-written, because it raises `round`, which nobody may set. */
export const resendInvite = recordAct({
  module: invite,
  name: 'resendInvite',
  acceptsTokens: true,
  description: `Sends a new link, which works for 14 days; older links stop working. An invitation can be sent again ${maxResends} times, also after it has expired.`,
  about,
  act: resend,
});

export const withdrawInvite = recordAct({
  module: invite,
  name: 'withdrawInvite',
  acceptsTokens: true,
  description: 'Ends the links of an invitation; the address can be invited again.',
  about,
  act: withdraw,
});
