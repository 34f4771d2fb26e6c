import type * as openid from 'openid-client';
import { invalidAnswer, remedies } from '../provider-answer.ts';
import { ProviderError, type ProviderErrorCode } from '../provider-error.ts';

/** Meaning of the errors of token endpoints (RFC 6749, section 5.2) and of authorization endpoints (section 4.1.2.1). */
const codes: Readonly<Record<string, ProviderErrorCode>> = {
  invalid_grant: 'unauthorized',
  interaction_required: 'unauthorized',
  login_required: 'unauthorized',
  consent_required: 'unauthorized',
  // The app is not, or no longer, allowed in the account of the customer.
  unauthorized_client: 'unauthorized',
  access_denied: 'forbidden',
  slow_down: 'rate_limited',
  temporarily_unavailable: 'unavailable',
  server_error: 'unavailable',
};

const appRefused =
  'The other system refuses the app of this server. Report it to those who operate the server: its client id and secret have to be checked.';

/**
 * Runs a step of the protocol, whose errors become ours. Those of the library are not kept: they have parts of the answer.
 * @throws ProviderError
 */
export async function translated<T>(library: typeof openid, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translatedError(library, error);
  }
}

function translatedError(library: typeof openid, error: unknown): unknown {
  // The library wraps what the way out throws.
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ProviderError) return cause;
  if (error instanceof library.ResponseBodyError || error instanceof library.AuthorizationResponseError)
    return errorOfCode(error.error);
  if (error instanceof library.WWWAuthenticateChallengeError) return errorOfChallenge(error);
  if (error instanceof library.ClientError) return invalidAnswer(`its sign-in does not conform (${error.code ?? ''})`);
  return error;
}

function errorOfCode(given: string): ProviderError {
  const code = codes[given] ?? 'refused';
  if (code === 'refused') return new ProviderError(code, appRefused);
  return new ProviderError(code, `The other system refuses the sign-in. ${remedies[code]}`);
}

/** A challenge for the scheme `Basic` is about the client and its secret, any other one about the token. */
function errorOfChallenge({ status, cause }: openid.WWWAuthenticateChallengeError): ProviderError {
  if (cause.some(({ scheme }) => scheme === 'basic')) return new ProviderError('refused', appRefused);
  const code = status === 403 ? 'forbidden' : 'unauthorized';
  return new ProviderError(code, `The other system does not accept the credential. ${remedies[code]}`);
}
