import { Type, type Static } from 'typebox';
import { user } from '#entities/identity/user.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import type { AccessClaims } from '../../../auth/access-token.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { forgetWrongPasswords, readPerson, withCurrentPassword } from '../account/current-password.ts';
import { PasswordSchema } from '../account/password-schemas.ts';
import { acceptCode, codeFields, countCode, oneOfThem } from './accept-code.ts';
import { confirmedFactor } from '../../../credentials/confirmed-factor.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { noteProof } from '../../../credentials/recent-proof.ts';

const BodySchema = Type.Object(
  { ...codeFields, password: Type.Optional(PasswordSchema('Password; for users without a second factor.')) },
  oneOfThem,
);
type Body = Static<typeof BodySchema>;

export const stepUp = defineRoute({
  method: 'POST',
  url: '/v1/2fa/step-up',
  operationId: 'stepUp',
  tag: 'Second factors',
  summary: 'Confirm your identity again',
  description:
    'Allows sensitive actions of this session for ten minutes. Users with a second factor send a code or a recovery code; users without one send their password.',
  access: 'required',
  limitClass: 'credential',
  acceptsSingleSignOn: true,
  allowsMissingFactor: true,
  body: BodySchema,
  answers: { 200: MessageSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'permission_denied', 'invalid_credentials', 'too_many_requests', 'overloaded'],
  handle: async (call) => {
    const claims = signedInPerson(call);
    const { code, recovery_code: recoveryCode, password } = call.body;
    if (code === undefined && recoveryCode === undefined && password === undefined)
      throw anotherProof('code', 'is missing; send it, or recovery_code, or password if you have no second factor');
    await (call.body.password === undefined
      ? proveWithCode(call, claims)
      : proveWithPassword(call, claims, call.body.password));
    await noteProof(call, claims);
    return { status: 200, body: { message: 'Sensitive actions are allowed for ten minutes.' } };
  },
});

async function proveWithCode(call: Call<Body>, { userId }: AccessClaims): Promise<void> {
  const { singleSignOnId } = call.unit.context.caller;
  await countCode(call, userId, call.body, singleSignOnId);
  await call.unit.data.privileged('step up').findLocked(user, userId);
  const factor = await confirmedFactor(call, userId);
  if (!factor) throw anotherProof('password', 'is needed in place of a code, because you have no second factor');
  await acceptCode(call, factor, call.body, singleSignOnId);
}

async function proveWithPassword(call: Call<Body>, { userId }: AccessClaims, password: string): Promise<void> {
  if (call.body.code !== undefined || call.body.recovery_code !== undefined)
    throw anotherProof('password', 'cannot be sent together with code or recovery_code; send one of them');
  const person = await readPerson(call, userId);
  await withCurrentPassword(call, person, password, () => Promise.resolve());
  const locked = await call.unit.data.privileged('step up').findLocked(user, userId);
  // Somebody may have set another one meanwhile.
  if (locked?.passwordHash !== person.passwordHash) throw signInFirst();
  if (await confirmedFactor(call, userId))
    throw anotherProof('code', 'is needed in place of password, because you have a second factor; or recovery_code');
  await forgetWrongPasswords(call, userId);
}

function anotherProof(field: string, message: string): AppError {
  return inputError([{ path: `/${field}`, message }]);
}
