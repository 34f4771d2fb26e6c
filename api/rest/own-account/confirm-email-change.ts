import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { claimedId, expiredToken, invalidToken } from '#entities/kit/base/one-time-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { workOf } from '../../http/request-context.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { endSessions } from '../account/end-sessions.ts';
import { checkLink } from '../account/mailed-link.ts';
import { countGuess, LinkBody, requirePassword } from './link-password.ts';
import { voidMailedLinks } from './void-mailed-links.ts';

type Change = RowOf<typeof emailChange> & { readonly newEmail: string };
type Person = RowOf<typeof user>;

/** The round of every link: each request makes a record of its own. */
const round = 1;

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
    const id = claimedId('email-change', body.token);
    const { change, person } = await readChange(call, id, body.token);
    await requirePassword(body.password, person.passwordHash);

    const data = unit.data.privileged('confirm e-mail change');
    // In one order, so that two confirmations cannot wait for each other.
    for (const email of [change.email, change.newEmail].toSorted()) await lockEmail(unit, email);
    checkUsable(services, await data.findLocked(emailChange, id), body.token);
    const locked = await data.findLocked(user, change.userId);
    if (!isSame(locked, person, change)) throw invalidToken('email-change');
    // Somebody has taken the address meanwhile: the answer does not tell it.
    if (await data.findOne(user, { email: { eq: change.newEmail } })) throw invalidToken('email-change');
    const now = services.clock.now();
    await data.update(user, locked.id, { email: change.newEmail, emailConfirmedAt: now });
    await voidMailedLinks(data, locked.id, [change.email, change.newEmail], now);
    const { claims } = request.core;
    await endSessions(data, locked.id, claims?.userId === locked.id ? claims.sessionId : undefined);
    unit.emit(customEvent(emailChange, 'confirmed', await data.get(emailChange, id), {}));
    return {
      status: 200,
      body: { message: `The address is changed to ${change.newEmail}; all other devices are signed out.` },
    };
  },
});

/** Reads what the token stands for in a transaction that ends before the hashing begins. The password is counted as an attempt. */
function readChange(
  { services, request }: Call<unknown>,
  id: string,
  token: string,
): Promise<{ change: Change; person: Person }> {
  return services.database.transact(workOf(request.core, systemCaller('confirm e-mail change')), async (unit) => {
    const change = checkUsable(services, await unit.data.findOne(emailChange, { id: { eq: id } }), token);
    const person = await unit.data.findOne(user, { id: { eq: change.userId } });
    if (!isSame(person, person, change)) throw invalidToken('email-change');
    await countGuess(unit, 'email-change', id);
    return { change, person };
  });
}

/** @throws AppError invalid_token, token_expired */
function checkUsable(services: Services, found: RowOf<typeof emailChange> | undefined, token: string): Change {
  if (!found) throw invalidToken('email-change');
  checkLink(services, 'email-change', found.id, round, token);
  const { newEmail } = found;
  if (found.usedAt || !found.sentAt || newEmail === null) throw invalidToken('email-change');
  if (found.expiresAt <= services.clock.now()) throw expiredToken('email-change');
  return { ...found, newEmail };
}

/** Whether the person still is who asked, with the password that was compared. */
function isSame(found: Person | undefined, compared: Person | undefined, { email }: Change): found is Person {
  return (
    found !== undefined &&
    found.status === 'active' &&
    found.emailConfirmedAt !== null &&
    found.email === email &&
    found.passwordHash === compared?.passwordHash
  );
}
