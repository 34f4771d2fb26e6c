import type { AuthFlow, Credential, OpeningContext, ProviderContext } from '../definition.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { openClient, refreshedTokens, type OAuthClient } from '../oauth/oauth-client.ts';
import { beginSignIn, finishSignIn } from '../oauth/sign-in.ts';
import { invalidAnswer, readAnswer } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';

const accountsUrl = 'https://accounts.google.com';
const tokensUrl = 'https://oauth2.googleapis.com';

const directoryScopes = ['user', 'group', 'customer'].map(
  (part) => `https://www.googleapis.com/auth/admin.directory.${part}.readonly`,
);
const scope = directoryScopes.join(' ');

/** An administrator of the suite signs in; its tokens are valid while nobody is there. */
export const suiteSignIn: AuthFlow = {
  begin: async (context, { state, callbackUrl }) => {
    const { url, kept } = await beginSignIn(context, suiteOf(context), { state, callbackUrl, scope });
    const target = new URL(url);
    // Without a new consent, there is no refresh token for somebody who has consented before.
    target.searchParams.set('access_type', 'offline');
    target.searchParams.set('prompt', 'consent');
    return { url: target.href, kept };
  },

  finish: async (context, answer, request) => {
    const { tokens } = await finishSignIn(context, suiteOf(context), answer, { ...request, scope });
    // Only an answer says what the person has left ticked.
    const granted = answer.get('scope')?.split(' ');
    const missing = granted && directoryScopes.find((one) => !granted.includes(one));
    if (missing !== undefined)
      throw new ProviderError(
        'forbidden',
        `The permission ${missing} was not given. Connect again, and give all of them.`,
      );
    if (tokens.refreshToken === undefined) throw invalidAnswer('it sent no refresh token');
    return { ...tokens };
  },
};

/** A new access token. @throws ProviderError unauthorized */
export async function renewedTokens(context: ProviderContext): Promise<Credential> {
  const opened = await openClient(context, suiteOf(context));
  return { ...(await refreshedTokens(context, opened, context.credential)) };
}

/** Takes back the consent. @throws ProviderError */
export async function takeBackConsent(context: ProviderContext): Promise<void> {
  const body = new URLSearchParams({ token: keptText(context.credential, 'refreshToken') });
  const response = await context.http.fetch(`${context.baseUrl(tokensUrl)}/revoke`, { method: 'POST', body });
  // 400: it has ended already.
  if (response.status !== 400) await readAnswer(response, context.now());
}

/** The sign-in server, whose metadata are fixed. */
function suiteOf({ baseUrl, config }: Pick<OpeningContext, 'baseUrl' | 'config'>): OAuthClient {
  const { clientid, clientsecret } = config.integrations.officesuite;
  const issuer = baseUrl(accountsUrl);
  return {
    issuer,
    clientId: clientid,
    clientSecret: clientsecret,
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/o/oauth2/v2/auth`,
      token_endpoint: `${baseUrl(tokensUrl)}/token`,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
  };
}
