import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { hashPassword } from '../../../auth/password.ts';
import { checkStrength } from '../../../auth/password-strength.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { workOf } from '../../../http/request-context.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { requireRecentFactor } from '../../../credentials/recent-proof.ts';
import { forgetWrongPasswords, readPerson, withCurrentPassword } from './current-password.ts';
import { rememberBrowser } from './known-browser.ts';
import { NewPasswordSchema, PasswordSchema } from './password-schemas.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { personalWords } from './personal-words.ts';
import { setPassword } from './set-password.ts';

/** Somebody who merely found a signed-in device does not know the password, and cannot change it. */
export const changePassword = defineRoute({
  method: 'POST',
  url: '/v1/change-password',
  operationId: 'changePassword',
  tag: 'Account',
  summary: 'Change the password',
  description:
    'Sets a new password if the current one is right. All other devices of the user are signed out. Users with a second factor must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes. After ten wrong passwords the user waits for a quarter of an hour.',
  access: 'required',
  limitClass: 'credential',
  allowsMissingFactor: true,
  body: Type.Object(
    { password: PasswordSchema('Current password.'), new_password: NewPasswordSchema },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: [
    'invalid_input',
    'invalid_credentials',
    'permission_denied',
    'step_up_required',
    'weak_password',
    'too_many_requests',
    'overloaded',
  ],
  handle: async (call) => {
    const { body, unit, services, request } = call;
    const { userId, sessionId } = signedInPerson(call);
    const person = await readPerson(call, userId);
    if (body.new_password === body.password)
      throw new AppError('weak_password', 'new_password is the same as password; choose another one.');
    const words = await services.database.transact(workOf(request.core, systemCaller('check password')), ({ data }) =>
      personalWords(data, person),
    );
    await checkStrength(body.new_password, words);
    const passwordHash = await withCurrentPassword(call, person, body.password, () => hashPassword(body.new_password));

    const data = unit.data.privileged('change password');
    await lockEmail(unit, person.email);
    const locked = await data.findLocked(user, person.id);
    // Somebody else may have set another one meanwhile.
    if (locked?.passwordHash !== person.passwordHash) throw signInFirst();
    // The password alone is not enough for those who have another factor.
    await requireRecentFactor(call);
    await setPassword(unit, data, { person, passwordHash }, sessionId);
    await forgetWrongPasswords(call, userId);
    rememberBrowser(call, { email: person.email, passwordHash });
    return { status: 200, body: { message: 'The password is changed; all other devices are signed out.' } };
  },
});
