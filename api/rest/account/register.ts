import { Type } from 'typebox';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { isPauseOver, requestVerification } from './request-verification.ts';
import { hashPassword, maxPasswordLength } from '../../auth/password.ts';
import { checkStrength } from '../../auth/password-strength.ts';
import { EmailSchema, MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';

/**
 * Responds in the same way, after the same work, whether or not the address has an account, so that nobody learns who has one.
 * Only the e-mail differs.
 */
export const register = defineRoute({
  method: 'POST',
  url: '/v1/register',
  tag: 'Account',
  summary: 'Sign up',
  description:
    'Creates an account and sends a confirmation link by e-mail. The response is the same for addresses that already have an account.',
  access: 'public',
  body: Type.Object(
    {
      email: EmailSchema,
      password: Type.String({
        minLength: 1,
        maxLength: maxPasswordLength,
        writeOnly: true,
        description: 'At least 12 characters, or hard to guess. Spaces at its ends are significant.',
      }),
      first_name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'First name.' })),
      last_name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Last name.' })),
    },
    { additionalProperties: false },
  ),
  answers: { 202: MessageSchema },
  errors: ['invalid_input', 'weak_password', 'overloaded'],
  handle: async (call) => {
    const { body, unit, services } = call;
    const email = body.email.toLowerCase();
    const names = [body.first_name, body.last_name].flatMap((name) => name?.trim() || []);
    await checkStrength(body.password, [email, ...names]);
    // Hashing is slow, so it is done before the first statement opens the transaction.
    const passwordHash = await hashPassword(body.password, 'sign-up');

    await lockEmail(unit, email);
    const data = unit.data.privileged('sign-up');
    const existing = await data.findOne(user, { email: { eq: email } });
    const profile = {
      firstName: body.first_name ?? null,
      lastName: body.last_name ?? null,
      displayName: names.join(' ') || email,
    };
    if (existing?.emailConfirmedAt) {
      unit.emit(customEvent(user, 'registration_repeated', existing, {}));
    } else if (existing) {
      // Until the address is confirmed, the newest sign-up replaces older ones, and only its link works. Within the minimum
      // interval no new e-mail can be sent, so the older sign-up remains.
      const held = await data.findOne(emailVerification, { userId: { eq: existing.id } });
      if (!held || isPauseOver(held, services.clock.now())) {
        await data.update(user, existing.id, { ...profile, passwordHash });
        await requestVerification(call, data, existing, held);
      }
    } else {
      const created = await data.create(user, { email, passwordHash, ...profile });
      await requestVerification(call, data, created, undefined);
    }
    return { status: 202, body: { message: `An e-mail has been sent to ${email}.` } };
  },
});
