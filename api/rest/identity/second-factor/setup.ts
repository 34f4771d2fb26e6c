import { Type } from 'typebox';
import { secondFactor } from '#entities/identity/second-factor.ts';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Config } from '#config/objects/root.ts';
import { sealSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import { newEnrollment, type CodeDigits } from '../../../auth/authenticator-app.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { defineRoute } from '../../../http/route.ts';
import { sealing } from './accept-code.ts';
import { heldFactor } from '../../../credentials/confirmed-factor.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { requireRecentProof } from '../../../credentials/recent-proof.ts';

/** A secret that was set up has no effect until a code confirms it, and can be set up again until then. */
export const setUpSecondFactor = defineRoute({
  method: 'POST',
  url: '/v1/2fa/setup',
  operationId: 'setUpSecondFactor',
  tag: 'Second factors',
  summary: 'Set up an authenticator app',
  description:
    'Returns a new secret for an authenticator app, once: as text, as `otpauth` URI and as QR code. /v1/2fa/confirm turns it on with a code of the app. Users must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes; otherwise the response is step_up_required. Sessions of single sign-on are refused.',
  access: 'required',
  answersCredential: true,
  allowsMissingFactor: true,
  answers: {
    200: Type.Object({
      secret: Type.String({ description: 'Secret for the app, in base32.' }),
      uri: Type.String({ description: 'The same as a URI (`otpauth://totp/…`), with issuer and account.' }),
      qr_code: Type.String({ description: 'The URI as a QR code: data URI of an SVG image.' }),
    }),
  },
  errors: ['permission_denied', 'step_up_required', 'already_exists'],
  handle: async (call) => {
    const { unit, services } = call;
    const config = services.config.current;
    const { userId } = signedInPerson(call);
    if (!config.totp.enabled)
      throw new AppError('permission_denied', 'This server offers no authenticator apps (configuration totp.enabled).');
    const data = unit.data.privileged('set up second factor');
    // A change of a factor locks the user first.
    const person = await data.findLocked(user, userId);
    if (!person) throw signInFirst();
    await requireRecentProof(call);
    const held = await heldFactor(call, userId);
    if (held?.confirmedAt)
      throw new AppError(
        'already_exists',
        'You already have an authenticator app. Remove it with POST /v1/2fa/disable before you set up another one.',
      );
    const digits = config.totp.codelength as CodeDigits;
    const { secret, uri, qrCode } = await newEnrollment(issuerOf(config), person.email, digits);
    const id = held?.id ?? newId();
    const values = { digits, sealedSecret: await sealSecret(secret, sealing(call, id)), lastUsedStep: 0 };
    if (held) await data.update(secondFactor, id, values);
    else await data.create(secondFactor, { id, userId, ...values });
    return { status: 200, body: { secret, uri, qr_code: qrCode } };
  },
});

/** The name of this server in apps: neither a URL nor a port, because a colon separates it from the account. */
function issuerOf({ totp, auth }: Config): string {
  const name = totp.issuer || auth.token.issuer;
  const host = URL.canParse(name) ? new URL(name).hostname : '';
  return (host || name.replace(/:\d+$/, '')).replaceAll(/[:[\]]+/g, ' ').trim();
}
