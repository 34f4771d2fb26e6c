import { passkey } from '#entities/identity/passkey.ts';
import { user } from '#entities/identity/user.ts';
import { creationOptions } from '../../../auth/passkeys.ts';
import { defineRoute } from '../../../http/route.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { requireRecentProof } from '../../../credentials/recent-proof.ts';
import { challengeFor, logStep, passkeySettings } from './passkey-requests.ts';
import { OptionsSchema } from './passkey-schemas.ts';

/** A passkey is registered for the session's own person only, whatever a request says. */
export const registrationOptions = defineRoute({
  method: 'POST',
  url: '/v1/registration/options',
  operationId: 'beginPasskeyRegistration',
  tag: 'Passkeys',
  summary: 'Begin to register a passkey',
  description:
    'Returns options for `navigator.credentials.create` (see `PublicKeyCredential.parseCreationOptionsFromJSON`). The passkey is for the signed-in user. Users must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes; otherwise the response is step_up_required. Sessions of single sign-on are refused. Send the result to /v1/registration/verification in the same session.',
  access: 'required',
  limitClass: 'flow',
  answers: { 200: OptionsSchema },
  errors: ['permission_denied', 'step_up_required', 'not_found'],
  handle: async (call) => {
    const { unit, services } = call;
    const settings = passkeySettings(services);
    const { userId, sessionId } = signedInPerson(call);
    await requireRecentProof(call);
    const person = await unit.data.get(user, userId);
    const held = await unit.data.find(passkey, { where: { userId: { eq: userId } }, limit: settings.maxdevices });
    const challenge = challengeFor(call, { ceremony: 'registration', subject: sessionId });
    logStep(call, 'registration', 'begun', { user_id: userId });
    return { status: 200, body: { publicKey: await creationOptions(settings, person, held, challenge) } };
  },
});
