import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { linkKinds } from '../account/link-kinds.ts';
import { redeemLink } from '../account/redeem-link.ts';
import { LinkBody, maxGuesses, requirePassword } from './link-password.ts';

export const reactivateAccount = defineRoute({
  method: 'POST',
  url: '/v1/account/reactivate',
  operationId: 'reactivateAccount',
  tag: 'Account',
  summary: 'Reactivate an account',
  description:
    'Reactivates an account that its user deactivated, with the token of the link that was mailed then, and the password. POST /v1/resend, /v1/forgot-password and /v1/register mail the link again. Sign in afterwards.',
  access: 'public',
  body: LinkBody,
  answers: { 200: MessageSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'invalid_token', 'token_expired', 'invalid_credentials', 'too_many_requests', 'overloaded'],
  handle: async (call) => {
    const { body, unit } = call;
    const { known, data } = await redeemLink(call, linkKinds.reactivation, {
      guesses: maxGuesses,
      read: (found) => found,
      prove: ({ passwordHash }) => requirePassword(body.password, passwordHash),
      addresses: ({ email }) => [email],
    });
    // Its version is that of the token, so it is the record whose password was compared.
    const reactivated = await data.update(user, known.id, { status: 'active' });
    unit.emit(customEvent(user, 'reactivated', reactivated, {}));
    return { status: 200, body: { message: 'The account is active again; sign in now.' } };
  },
});
