import { Type } from 'typebox';
import { passkey } from '#entities/identity/passkey.ts';
import { session } from '#entities/identity/session.ts';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { AccessClaims } from '../../../auth/access-token.ts';
import { verifyRegistration } from '../../../auth/passkeys.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { defineRoute } from '../../../http/route.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { requireRecentProof } from '../../../credentials/recent-proof.ts';
import { acceptResponse, logStep, passkeySettings, takeChallenge, type PasskeySettings } from './passkey-requests.ts';
import { RegistrationSchema } from './passkey-schemas.ts';

export const registrationVerification = defineRoute({
  method: 'POST',
  url: '/v1/registration/verification',
  operationId: 'registerPasskey',
  tag: 'Passkeys',
  summary: 'Register a passkey',
  description:
    'Stores the passkey that `navigator.credentials.create` has made for the options of /v1/registration/options. Options are valid once, for the session that asked for them. /v1/passkeys lists, renames and deletes the passkeys of the user.',
  access: 'required',
  limitClass: 'flow',
  body: RegistrationSchema,
  answers: {
    201: Type.Object({
      id: Type.String({ description: 'Id of the passkey.' }),
      name: Type.String({ description: 'Name of the passkey.' }),
    }),
  },
  // It uses up the challenge in a transaction of its own.
  runsOnce: true,
  errors: ['permission_denied', 'step_up_required', 'not_found', 'invalid_passkey', 'already_exists', 'limit_exceeded'],
  handle: async (call) => {
    const { body, unit, services } = call;
    const settings = passkeySettings(services);
    const person = signedInPerson(call);
    const { name = 'Passkey', ...response } = body;
    const verified = await acceptResponse(call, 'registration', refused, async () => {
      const { clientDataJSON } = response.response;
      const use = { ceremony: 'registration', subject: person.sessionId, clientDataJSON } as const;
      const { challenge } = await takeChallenge(call, settings, use, async () => {});
      return verifyRegistration(settings, response, challenge);
    });

    const data = unit.data.privileged('register passkey');
    await checkRoom(data, person, settings);
    await requireRecentProof(call);
    const made = await data.create(passkey, { userId: person.userId, name, ...verified });
    logStep(call, 'registration', 'completed', { user_id: person.userId, passkey_id: made.id });
    return { status: 201, body: { id: made.id, name: made.name } };
  },
});

/**
 * Locks the person, so that registrations at the same time are counted one after the other. The session may have ended meanwhile,
 * because the password was changed.
 */
async function checkRoom(
  data: DataClient,
  { userId, sessionId }: AccessClaims,
  { maxdevices }: PasskeySettings,
): Promise<void> {
  await data.findLocked(user, userId);
  if (!(await data.findLocked(session, sessionId))) throw signInFirst();
  const held = await data.find(passkey, { where: { userId: { eq: userId } }, limit: maxdevices });
  if (held.length < maxdevices) return;
  const message = `is one more than the ${maxdevices} passkeys that a user can have; delete one first`;
  throw new AppError('limit_exceeded', `The passkey ${message}.`, { details: { fields: [{ path: '/id', message }] } });
}

function refused(cause: unknown): AppError {
  return new AppError('invalid_passkey', 'The passkey was not accepted; begin again with /v1/registration/options.', {
    cause,
  });
}
