import type { AuthFlow, Credential, OpeningContext, ProviderAccount, ProviderContext } from '../definition.ts';
import { expiryOf, keptText } from '../oauth/kept-tokens.ts';
import { openClient, type OAuthClient } from '../oauth/oauth-client.ts';
import { translated } from '../oauth/oauth-failures.ts';
import { beginSignIn, finishSignIn } from '../oauth/sign-in.ts';
import { invalidAnswer } from '../provider-answer.ts';

const scope = 'openid email profile';

/** Maximum size of the claims about a person, as JSON. */
const maxClaimsBytes = 32_768;

export const localSignIn: AuthFlow = {
  begin: (context, { state, callbackUrl }) => beginSignIn(context, providerOf(context), { state, callbackUrl, scope }),
  finish: async (context, answer, request) => {
    const { tokens, claims, opened } = await finishSignIn(context, providerOf(context), answer, { ...request, scope });
    if (!claims) throw invalidAnswer('it sent no id token');
    const { library, configuration } = opened;
    // Id tokens may have no claim about the person but the subject (OpenID Connect Core, section 5.4).
    const more = configuration.serverMetadata().userinfo_endpoint
      ? await translated(library, () => library.fetchUserInfo(configuration, tokens.accessToken, claims.sub))
      : {};
    const known = { ...more, ...claims };
    if (Buffer.byteLength(JSON.stringify(known)) > maxClaimsBytes)
      throw invalidAnswer(`its claims about the person have more than ${maxClaimsBytes} bytes`);
    return { ...tokens, claims: known };
  },
};

/** The provider, asked for the person while the token is valid, else for its metadata. @throws ProviderError */
export async function checkProvider(context: ProviderContext): Promise<ProviderAccount> {
  const { credential, now } = context;
  const { library, configuration } = await openClient(context, providerOf(context));
  const { issuer, userinfo_endpoint: userinfo } = configuration.serverMetadata();
  const expiresAt = expiryOf(credential);
  if (userinfo && expiresAt && expiresAt > now()) {
    const { sub } = claimsOf(credential);
    const token = keptText(credential, 'accessToken');
    await translated(library, () => library.fetchUserInfo(configuration, token, String(sub)));
  }
  return { id: issuer, name: new URL(issuer).host };
}

/** Claims about the person who has signed in. */
export function claimsOf({ claims }: Credential): Readonly<Record<string, unknown>> {
  return (claims ?? {}) as Readonly<Record<string, unknown>>;
}

function providerOf({ config }: Pick<OpeningContext, 'config'>): OAuthClient {
  const { discoveryurl, clientid, clientsecret } = config.integrations.oidclocal;
  return { issuer: discoveryurl, clientId: clientid, clientSecret: clientsecret };
}
