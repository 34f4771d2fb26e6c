import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Config } from '#config/objects/root.ts';

/** Loaded at the first use: it takes a quarter of a second and 28 MB, which processes without passkeys need not spend. */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

/** COSE algorithms of the keys of passkeys: EdDSA, ES256 and RS256, which between them all authenticators have. */
const algorithms = [-8, -7, -257];

/**
 * Formats of attestation statements that are read. None is asked for; the check of certificates would fetch addresses that a client
 * names.
 */
const attestationFormats = new Set<string>(['none', 'packed']);

/** A response of an authenticator that is not accepted. Its message is for logs only. */
export class PasskeyRefusal extends Error {
  override readonly name = 'PasskeyRefusal';
}

/** A passkey of a person, as it is stored. */
export interface StoredPasskey {
  readonly credentialId: string;
  readonly publicKey: string;
  readonly transports: string[];
}

/** Values that an authenticator reports at a sign-in. */
export interface VerifiedSignIn {
  readonly signCount: number;
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
}

interface VerifiedRegistration extends StoredPasskey, VerifiedSignIn {
  readonly aaguid: string;
}

/** A response as clients send it; they may leave the results of extensions out, which are not used. */
type Sent<R extends { readonly clientExtensionResults: unknown }> = Omit<R, 'clientExtensionResults'> & {
  readonly clientExtensionResults?: unknown;
};
type RegistrationResponse = Sent<RegistrationResponseJSON>;
type AuthenticationResponse = Sent<AuthenticationResponseJSON>;

type Settings = Config['auth']['providers']['webauthn'];

/** Options of `navigator.credentials.create`. @param passkeys those that the person has: no authenticator gets a second one */
export async function creationOptions(
  settings: Settings,
  person: { readonly id: string; readonly email: string; readonly displayName: string },
  passkeys: readonly StoredPasskey[],
  challenge: Buffer,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: settings.displayname,
    rpID: settings.relyingpartyid,
    userID: Uint8Array.from(Buffer.from(person.id)),
    userName: person.email,
    userDisplayName: person.displayName,
    challenge: Uint8Array.from(challenge),
    timeout: settings.timeout,
    attestationType: 'none',
    excludeCredentials: passkeys.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transportsOf(transports),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
}

/** Options of `navigator.credentials.get`, the same for everybody: the authenticator knows whose passkeys it has. */
export async function requestOptions(
  settings: Settings,
  challenge: Buffer,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: settings.relyingpartyid,
    challenge: Uint8Array.from(challenge),
    timeout: settings.timeout,
    userVerification: 'required',
  });
}

/** The challenge that a response is for, not verified. @throws PasskeyRefusal also for pages within pages of others */
export async function claimedChallenge(clientDataJSON: string): Promise<string> {
  const { decodeClientDataJSON } = await helpers();
  return refusing(async () => {
    const { challenge, crossOrigin = false } = decodeClientDataJSON(clientDataJSON) as Readonly<
      Partial<Record<'challenge' | 'crossOrigin', unknown>>
    >;
    if (typeof challenge !== 'string') throw new PasskeyRefusal('clientDataJSON has no challenge');
    if (crossOrigin !== false) throw new PasskeyRefusal('the page is embedded in a page of another origin');
    return challenge;
  });
}

/** The person whom the authenticator has stored with the passkey. @returns undefined if it reports none */
export function claimedPerson({ response: { userHandle } }: AuthenticationResponse): string | undefined {
  return userHandle === undefined ? undefined : Buffer.from(userHandle, 'base64url').toString();
}

/** Verifies a registration for a challenge that has been checked. @throws PasskeyRefusal */
export async function verifyRegistration(
  settings: Settings,
  response: RegistrationResponse,
  challenge: string,
): Promise<VerifiedRegistration> {
  const { verifyRegistrationResponse } = await library();
  const { decodeAttestationObject, isoBase64URL } = await helpers();
  return refusing(async () => {
    const { attestationObject } = response.response;
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
    const format = attestation.get('fmt');
    if (!attestationFormats.has(format) || attestation.get('attStmt').get('x5c') !== undefined)
      throw new PasskeyRefusal(`an attestation statement of the format ${format}, or with certificates`);
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: [...settings.requestorigins],
      expectedRPID: settings.relyingpartyid,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified || !registrationInfo) throw new PasskeyRefusal('the attestation statement is not valid');
    const { credential, aaguid, credentialDeviceType, credentialBackedUp } = registrationInfo;
    if (credential.id !== response.id) throw new PasskeyRefusal('the id is not that of the credential');
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      signCount: credential.counter,
      transports: response.response.transports ?? [],
      aaguid,
      isBackupEligible: credentialDeviceType === 'multiDevice',
      isBackedUp: credentialBackedUp,
    };
  });
}

/**
 * Verifies a sign-in for a challenge that has been checked. The signature count is not compared here: the stored one may change
 * meanwhile.
 * @throws PasskeyRefusal
 */
export async function verifyAuthentication(
  settings: Settings,
  response: AuthenticationResponse,
  challenge: string,
  { credentialId, publicKey, transports }: StoredPasskey,
): Promise<VerifiedSignIn> {
  const { verifyAuthenticationResponse } = await library();
  return refusing(async () => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: [...settings.requestorigins],
      expectedRPID: settings.relyingpartyid,
      credential: {
        id: credentialId,
        publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64url')),
        // 0 turns the comparison off.
        counter: 0,
        transports: transportsOf(transports),
      },
      requireUserVerification: true,
    });
    if (!verified) throw new PasskeyRefusal('the signature is not valid');
    const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo;
    return {
      signCount: newCounter,
      isBackupEligible: credentialDeviceType === 'multiDevice',
      isBackedUp: credentialBackedUp,
    };
  });
}

/** Browsers ignore transports that they do not know (WebAuthn, section 5.8.4). */
function transportsOf(transports: readonly string[]): AuthenticatorTransport[] {
  return [...transports] as AuthenticatorTransport[];
}

/** The library throws plain errors for every response that it does not accept, and fails to read others. */
async function refusing<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PasskeyRefusal) throw error;
    throw new PasskeyRefusal(error instanceof Error ? error.message : 'unknown', { cause: error });
  }
}
