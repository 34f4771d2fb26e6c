import { Type } from 'typebox';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { requestVerification } from './request-verification.ts';
import { hashPassword } from '../../../auth/password.ts';
import { checkStrength } from '../../../auth/password-strength.ts';
import { EmailSchema, MessageSchema, visibleLine } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { registerInvited } from '../../organizations/register-invited.ts';
import { checkNewEmail } from './check-new-email.ts';
import { passwordRule, PasswordSchema } from './password-schemas.ts';
import { organizationWords } from './personal-words.ts';

const nameSchema = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, [describedKeyword]: { pattern: visibleLine } });

/**
 * Responds in the same way, after the same work, whether or not the address has an account, so that nobody learns who has one.
 * Only the e-mail differs. The account is created when its address is confirmed (verify-email.ts).
 */
export const register = defineRoute({
  method: 'POST',
  url: '/v1/register',
  operationId: 'register',
  tag: 'Account',
  summary: 'Sign up',
  description:
    'Sends a confirmation link by e-mail, at most once a minute to one address; confirming it creates the account. The response is the same for addresses that already have an account.',
  access: 'public',
  body: Type.Object(
    {
      email: EmailSchema,
      password: PasswordSchema(`${passwordRule} Spaces at its ends are significant.`),
      first_name: Type.Optional(nameSchema('First name.')),
      last_name: Type.Optional(nameSchema('Last name.')),
      invite_token: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          writeOnly: true,
          description:
            'Token of an e-mailed invitation to this address. It confirms the address: the account is created immediately, as a member of the organization.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: { 201: MessageSchema, 202: MessageSchema },
  errors: [
    'invalid_input',
    'weak_password',
    'too_many_requests',
    'overloaded',
    'invalid_token',
    'token_expired',
    'permission_denied',
    'already_exists',
  ],
  handle: async (call) => {
    const { body, unit } = call;
    const email = emailForm(body.email);
    const names = [body.first_name, body.last_name].flatMap((name) => name?.trim() || []);
    await checkNewEmail(call, email);
    const { first_name: firstName = null, last_name: lastName = null, invite_token: token } = body;
    // Judging and hashing are slow, so they are done while no transaction is open.
    const hash = async (more: readonly string[]) => {
      await checkStrength(body.password, [email, ...names, ...more]);
      return hashPassword(body.password, 'sign-up');
    };
    if (token !== undefined)
      return registerInvited(call, { email, token }, async (organization) => ({
        email,
        passwordHash: await hash(organizationWords(organization)),
        firstName,
        lastName,
        displayName: names.join(' ') || email,
      }));
    const passwordHash = await hash([]);

    await lockEmail(unit, email);
    await requestVerification(call, unit.data.privileged('sign-up'), {
      email,
      passwordHash,
      firstName,
      lastName,
      round: 1,
    });
    return {
      status: 202,
      body: {
        message: `An e-mail is sent to ${email}, at most one a minute: if you signed up a moment ago, use its link with the password of that time, or wait a minute and sign up again.`,
      },
    };
  },
});
