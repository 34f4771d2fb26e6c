import { Type } from 'typebox';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { requestVerification } from './request-verification.ts';
import { hashPassword } from '../../auth/password.ts';
import { checkStrength } from '../../auth/password-strength.ts';
import { EmailSchema, MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { checkNewEmail } from './check-new-email.ts';
import { PasswordSchema } from './password-schemas.ts';

/**
 * Responds in the same way, after the same work, whether or not the address has an account, so that nobody learns who has one.
 * Only the e-mail differs. The account is created when its address is confirmed (verify-email.ts).
 */
export const register = defineRoute({
  method: 'POST',
  url: '/v1/register',
  tag: 'Account',
  summary: 'Sign up',
  description:
    'Sends a confirmation link by e-mail, at most once a minute to one address; confirming it creates the account. The response is the same for addresses that already have an account.',
  access: 'public',
  body: Type.Object(
    {
      email: EmailSchema,
      password: PasswordSchema('At least 12 characters, or hard to guess. Spaces at its ends are significant.'),
      first_name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'First name.' })),
      last_name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Last name.' })),
    },
    { additionalProperties: false },
  ),
  answers: { 202: MessageSchema },
  errors: ['invalid_input', 'weak_password', 'too_many_requests', 'overloaded'],
  handle: async (call) => {
    const { body, unit } = call;
    const email = body.email.toLowerCase();
    const names = [body.first_name, body.last_name].flatMap((name) => name?.trim() || []);
    await checkNewEmail(call, email);
    await checkStrength(body.password, [email, ...names]);
    // Hashing is slow, so it is done before the first statement opens the transaction.
    const passwordHash = await hashPassword(body.password, 'sign-up');

    await lockEmail(unit, email);
    await requestVerification(call, unit.data.privileged('sign-up'), {
      email,
      passwordHash,
      firstName: body.first_name ?? null,
      lastName: body.last_name ?? null,
      round: 1,
    });
    return { status: 202, body: { message: `An e-mail has been sent to ${email}.` } };
  },
});
