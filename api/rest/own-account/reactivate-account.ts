import { reactivationEnd, user } from '#entities/identity/user.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { claimedId, expiredToken, invalidToken } from '#entities/kit/base/one-time-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { workOf } from '../../http/request-context.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { checkLink } from '../account/mailed-link.ts';
import { countGuess, LinkBody, requirePassword } from './link-password.ts';

type Person = RowOf<typeof user>;

/**
 * The link names the version of the user record at the deactivation: any change since, such as a suspension by an operator, makes it void,
 * and so does the reactivation.
 */
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
    const { body, unit, services, request } = call;
    const id = claimedId('reactivation', body.token);
    const compared = await services.database.transact(
      workOf(request.core, systemCaller('reactivate account')),
      async (own) => {
        const found = checkUsable(services, await own.data.findOne(user, { id: { eq: id } }), body.token);
        await countGuess(own, 'reactivation', id);
        return found;
      },
    );
    await requirePassword(body.password, compared.passwordHash);

    const data = unit.data.privileged('reactivate account');
    await lockEmail(unit, compared.email);
    // Its version is that of the token, so it is the record whose password was compared.
    checkUsable(services, await data.findLocked(user, id), body.token);
    const reactivated = await data.update(user, id, { status: 'active' });
    unit.emit(customEvent(user, 'reactivated', reactivated, {}));
    return { status: 200, body: { message: 'The account is active again; sign in now.' } };
  },
});

/** @throws AppError invalid_token, token_expired */
function checkUsable(services: Services, found: Person | undefined, token: string): Person {
  if (found?.status !== 'deactivated') throw invalidToken('reactivation');
  checkLink(services, 'reactivation', found.id, found.recordVersion, token);
  if (reactivationEnd(found) <= services.clock.now()) throw expiredToken('reactivation');
  return found;
}
