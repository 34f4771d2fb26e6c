import type * as openid from 'openid-client';
import type { AuthRequest } from '../definition.ts';
import { invalidAnswer } from '../provider-answer.ts';
import {
  openClient,
  toleranceS,
  tokensOf,
  type OAuthClient,
  type OAuthContext,
  type OpenedClient,
  type Tokens,
} from './oauth-client.ts';
import { translated } from './oauth-failures.ts';

interface SignInRequest {
  readonly state: string;
  readonly callbackUrl: string;
  /** With `openid` in it, the provider has to prove who has signed in. */
  readonly scope: string;
}

/** Begins an authorization code flow with PKCE (RFC 9700, section 2.1). @throws ProviderError */
export async function beginSignIn(
  context: OAuthContext,
  client: OAuthClient,
  { state, callbackUrl, scope }: SignInRequest,
): Promise<{ readonly url: string; readonly kept: Readonly<Record<string, string>> }> {
  const { library, configuration } = await openClient(context, client);
  const kept = {
    nonce: library.randomNonce(),
    verifier: library.randomPKCECodeVerifier(),
    begunAt: context.now().toISOString(),
  };
  const url = library.buildAuthorizationUrl(configuration, {
    redirect_uri: callbackUrl,
    scope,
    state,
    code_challenge: await library.calculatePKCECodeChallenge(kept.verifier),
    code_challenge_method: 'S256',
    ...(isOpenId(scope) ? { nonce: kept.nonce } : {}),
  });
  return { url: url.href, kept };
}

export interface SignedIn {
  readonly tokens: Tokens;
  /** Of the id token; undefined without the scope `openid`. */
  readonly claims: openid.IDToken | undefined;
  readonly opened: OpenedClient;
}

/** Exchanges the code of a callback. @throws ProviderError */
export async function finishSignIn(
  context: OAuthContext,
  client: OAuthClient,
  answer: URLSearchParams,
  { kept, callbackUrl, state, scope }: AuthRequest & Pick<SignInRequest, 'scope'>,
): Promise<SignedIn> {
  const { nonce = '', verifier = '', begunAt = '' } = kept;
  const opened = await openClient(context, client);
  const { library, configuration } = opened;
  if (isOpenId(scope)) library.enableNonRepudiationChecks(configuration);
  const url = new URL(callbackUrl);
  url.search = answer.toString();
  const given = await translated(library, () =>
    library.authorizationCodeGrant(
      configuration,
      url,
      {
        expectedState: state,
        pkceCodeVerifier: verifier,
        ...(isOpenId(scope) ? { expectedNonce: nonce, idTokenExpected: true } : {}),
      },
      { redirect_uri: callbackUrl },
    ),
  );
  const claims = isOpenId(scope) ? given.claims() : undefined;
  if (claims) checkIssueTime(claims.iat, context.now(), new Date(begunAt));
  return { tokens: tokensOf(given, context.now()), claims, opened };
}

function isOpenId(scope: string): boolean {
  return scope.split(' ').includes('openid');
}

/** A token that is older than the request was not made for it (OpenID Connect Core, section 3.1.3.7). */
function checkIssueTime(issuedAt: number, now: Date, begunAt: Date): void {
  const [earliest, latest] = [begunAt.getTime() / 1_000 - toleranceS, now.getTime() / 1_000 + toleranceS];
  if (!(issuedAt >= earliest && issuedAt <= latest))
    throw invalidAnswer('its id token was not issued during this sign-in');
}
