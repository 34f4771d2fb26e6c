import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { invalidToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { endSessions } from '../account/end-sessions.ts';
import { linkKinds } from '../account/link-kinds.ts';
import { redeemLink } from '../account/redeem-link.ts';
import { LinkBody, maxGuesses, requirePassword } from './link-password.ts';
import { voidMailedLinks } from './void-mailed-links.ts';

type Person = RowOf<typeof user>;

/**
 * Changes the address with the token of the link that was mailed to the new one, and with the password: a misspelt address must not give
 * the account to whoever owns it.
 */
export const confirmEmailChange = defineRoute({
  method: 'POST',
  url: '/v1/account/email/confirm',
  operationId: 'confirmEmailChange',
  tag: 'Account',
  summary: 'Confirm a new e-mail address',
  description:
    'Changes the address of the account with the token of the link that was mailed to the new one, and the password. All other devices are signed out, and links that were mailed to the old address stop working.',
  access: 'public',
  body: LinkBody,
  answers: { 200: MessageSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'invalid_token', 'token_expired', 'invalid_credentials', 'too_many_requests', 'overloaded'],
  handle: async (call) => {
    const { body, unit, services, request } = call;
    const { known, data } = await redeemLink(call, linkKinds['email-change'], {
      guesses: maxGuesses,
      read: async (found, own) => {
        const { newEmail } = found;
        const person = await own.data.findOne(user, { id: { eq: found.userId } });
        if (newEmail === null || !isSame(person, person, found)) throw invalidToken('email-change');
        return { change: { ...found, newEmail }, person };
      },
      prove: ({ person }) => requirePassword(body.password, person.passwordHash),
      addresses: ({ change }) => [change.email, change.newEmail],
    });
    const { change, person } = known;
    const locked = await data.findLocked(user, change.userId);
    if (!isSame(locked, person, change)) throw invalidToken('email-change');
    // Somebody has taken the address meanwhile: the answer does not reveal it.
    if (await data.findOne(user, { email: { eq: change.newEmail } })) throw invalidToken('email-change');
    const now = services.clock.now();
    await data.update(user, locked.id, { email: change.newEmail, emailConfirmedAt: now });
    await voidMailedLinks(data, locked.id, [change.email, change.newEmail], now);
    const { claims } = request.core;
    await endSessions(data, locked.id, claims?.userId === locked.id ? claims.sessionId : undefined);
    unit.emit(customEvent(emailChange, 'confirmed', await data.get(emailChange, change.id), {}));
    return {
      status: 200,
      body: { message: `The address is changed to ${change.newEmail}; all other devices are signed out.` },
    };
  },
});

/** Whether the person still is who asked, with the password that was compared. */
function isSame(
  found: Person | undefined,
  compared: Person | undefined,
  { email }: RowOf<typeof emailChange>,
): found is Person {
  return (
    found !== undefined &&
    found.status === 'active' &&
    found.emailConfirmedAt !== null &&
    found.email === email &&
    found.passwordHash === compared?.passwordHash
  );
}
