import { SoftwareAuthenticator, type Deviation } from './software-authenticator.ts';
import type { TestAnswer, TestClient } from '../test-client.ts';

/** Origin of the pages of a world with passkeys. */
export const passkeyOrigin = 'https://console.example.com';

/** Variables of a world with passkeys. */
export const passkeyEnvironment: Readonly<Record<string, string>> = {
  CORE_AUTH_PROVIDERS_WEBAUTHN_ENABLED: 'true',
  CORE_AUTH_PROVIDERS_WEBAUTHN_DISPLAYNAME: 'Core of tests',
  CORE_AUTH_PROVIDERS_WEBAUTHN_RELYINGPARTYID: 'example.com',
  CORE_AUTH_PROVIDERS_WEBAUTHN_REQUESTORIGINS: passkeyOrigin,
};

/** Asks for options. */
export async function passkeyOptions(client: TestClient, ceremony: 'registration' | 'authentication') {
  const answer = await client.post(`/v1/${ceremony}/options`);
  if (answer.status !== 200) throw new Error(`no options: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Registers the passkey of an authenticator for whoever is signed in. @param more besides what the authenticator answers */
export async function registerPasskey(
  client: TestClient,
  authenticator: SoftwareAuthenticator,
  deviation: Deviation = {},
  more: object = {},
): Promise<TestAnswer> {
  const options = await passkeyOptions(client, 'registration');
  return client.post('/v1/registration/verification', { ...authenticator.create(options, deviation), ...more });
}

/** Signs in with the passkey of an authenticator. */
export async function signInByPasskey(
  client: TestClient,
  authenticator: SoftwareAuthenticator,
  deviation: Deviation = {},
): Promise<TestAnswer> {
  const options = await passkeyOptions(client, 'authentication');
  return client.post('/v1/authentication/verification', authenticator.get(options, deviation));
}

/** A registered passkey of whoever is signed in. */
export async function newPasskey(client: TestClient): Promise<SoftwareAuthenticator> {
  const authenticator = new SoftwareAuthenticator(passkeyOrigin);
  const answer = await registerPasskey(client, authenticator);
  if (answer.status !== 201) throw new Error(`not registered: ${JSON.stringify(answer.body)}`);
  return authenticator;
}
