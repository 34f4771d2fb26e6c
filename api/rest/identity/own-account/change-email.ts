import { Type } from 'typebox';
import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { workOf } from '../../../http/request-context.ts';
import { EmailSchema, MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import { checkNewEmail } from '../account/check-new-email.ts';
import { forgetWrongPasswords, readPerson, withCurrentPassword } from '../account/current-password.ts';
import { countMailRequest, minIntervalMs } from '../account/mail-limits.ts';
import { PasswordSchema } from '../account/password-schemas.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { requireRecentFactor } from '../../../credentials/recent-proof.ts';

/** Lifetime of a link, in milliseconds. */
const linkLifetimeMs = 86_400_000;

/** Does the same work for every new address: the listener `mail-email-change` looks whether it has an account. */
export const changeEmail = defineRoute({
  method: 'POST',
  url: '/v1/account/email',
  operationId: 'changeEmail',
  tag: 'Account',
  summary: 'Ask to change the e-mail address',
  description:
    'Sends a link to the new address, if it has no account, and a notice to the old one, at most once a minute: earlier requests get too_many_requests. The address changes when the link is confirmed with POST /v1/account/email/confirm, within a day. The response is always the same. Users with a second factor must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  access: 'required',
  limitClass: 'mail',
  allowsMissingFactor: true,
  body: Type.Object(
    { password: PasswordSchema('Current password.'), new_email: EmailSchema },
    { additionalProperties: false },
  ),
  answers: { 202: MessageSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: [
    'invalid_input',
    'invalid_credentials',
    'permission_denied',
    'step_up_required',
    'too_many_requests',
    'overloaded',
  ],
  handle: async (call) => {
    const { body, unit, services, request } = call;
    const { userId } = signedInPerson(call);
    const newEmail = emailForm(body.new_email);
    const person = await readPerson(call, userId);
    if (newEmail === person.email) throw sameAddress();
    // Before the password, whose attempts are counted.
    await services.database.transact(workOf(request.core, systemCaller('change e-mail address')), (reading) =>
      refusePaused(reading.data, userId, newEmail, services.clock.now()),
    );
    await withCurrentPassword(call, person, body.password, async () => {});
    await checkNewEmail(call, newEmail, '/new_email');

    const now = services.clock.now();
    const data = unit.data.privileged('change e-mail address');
    await countMailRequest(call, 'change-email');
    await lockEmail(unit, newEmail);
    const locked = await data.findLocked(user, userId);
    if (locked?.passwordHash !== person.passwordHash || locked.email !== person.email) throw signInFirst();
    await requireRecentFactor(call);
    // Again, now that requests at the same time wait for each other.
    await refusePaused(data, userId, newEmail, now);
    const change = await data.create(emailChange, {
      userId,
      email: person.email,
      newEmail,
      sentAt: now,
      expiresAt: new Date(now.getTime() + linkLifetimeMs),
    });
    await forgetWrongPasswords(call, userId);
    unit.emit(customEvent(emailChange, 'requested', change, {}));
    return {
      status: 202,
      body: {
        message: `If ${newEmail} can be used, an e-mail with a link has been sent to it. Until you open it, the address stays the same.`,
      },
    };
  },
});

function sameAddress(): AppError {
  const message = 'is the address of this account already; send another one';
  return new AppError('invalid_input', `new_email ${message}.`, {
    details: { fields: [{ path: '/new_email', message }] },
  });
}

/** Neither a person nor an address causes more than one mail within the interval. @throws AppError too_many_requests */
async function refusePaused(data: DataClient, userId: string, newEmail: string, now: Date): Promise<void> {
  const sentAt = { gt: new Date(now.getTime() - minIntervalMs) };
  const own = await data.findOne(emailChange, { userId: { eq: userId }, sentAt });
  const last = own ?? (await data.findOne(emailChange, { newEmail: { eq: newEmail }, sentAt }));
  if (last?.sentAt)
    throw tooManyAttempts(
      'An e-mail for a change of address was just sent',
      new Date(last.sentAt.getTime() + minIntervalMs),
      now,
    );
}
