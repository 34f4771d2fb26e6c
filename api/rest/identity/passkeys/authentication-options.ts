import { randomTextPooled } from '#entities/kit/base/secrets/random-pool.ts';
import { passkeyCookie, passkeyCookieName } from '../../../auth/cookie-attributes.ts';
import { maxChallengeAgeMs } from '../../../auth/passkey-challenge.ts';
import { requestOptions } from '../../../auth/passkeys.ts';
import { giveCookie } from '../../../http/plugins/cookies.ts';
import { defineRoute } from '../../../http/route.ts';
import { challengeFor, logStep, passkeySettings } from './passkey-requests.ts';
import { OptionsSchema } from './passkey-schemas.ts';

/** The options name nobody, so they reveal nothing about anybody: the authenticator knows whose passkeys it has. */
export const authenticationOptions = defineRoute({
  method: 'POST',
  url: '/v1/authentication/options',
  operationId: 'beginPasskeySignIn',
  tag: 'Passkeys',
  summary: 'Begin to sign in with a passkey',
  description:
    'Returns options for `navigator.credentials.get` (see `PublicKeyCredential.parseRequestOptionsFromJSON`), the same for everybody: the user chooses a passkey, without a user name. Send the result to /v1/authentication/verification from the same browser, which a cookie identifies.',
  access: 'public',
  limitClass: 'flow',
  answers: { 200: OptionsSchema },
  errors: ['not_found'],
  handle: async (call) => {
    const { request, services } = call;
    const settings = passkeySettings(services);
    const config = services.config.current;
    const name = passkeyCookieName(config);
    const held = request.cookies[name];
    // The same for all pages that are open in a browser.
    const browser = held !== undefined && /^[\w-]{22}$/.test(held) ? held : randomTextPooled(16, 'base64url');
    giveCookie(request, name, browser, passkeyCookie(config, maxChallengeAgeMs / 1_000));
    logStep(call, 'authentication', 'begun');
    const challenge = challengeFor(call, { ceremony: 'authentication', subject: browser });
    return { status: 200, body: { publicKey: await requestOptions(settings, challenge) } };
  },
});
