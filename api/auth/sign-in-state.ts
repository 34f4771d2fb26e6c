import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { encryptionKeys } from '#entities/kit/base/secrets/keys.ts';
import { isCompactForm } from './signed-tokens.ts';

/** Header `typ`: no other value of this server is accepted as a state. */
const stateType = 'sign-in-state+jwt';

/** Time for a sign-in at a provider, in milliseconds. */
export const stateLifetimeMs = 10 * 60_000;

const maxLength = 4_096;

/** State that this server needs when the browser comes back from a provider. */
export interface SignInState {
  /** Which callback it belongs to. */
  readonly provider: 'codehost' | 'identity' | 'single_sign_on' | 'support' | 'integration';
  /** Purpose of the flow: to sign in, to link the identity to the account of the session, to test single sign-on, or to connect an integration. */
  readonly purpose: 'sign-in' | 'link' | 'test' | 'connect';
  /** `state` of RFC 6749, section 10.12. */
  readonly state: string;
  /** `nonce` of OpenID Connect Core, section 3.1.2.1. */
  readonly nonce: string;
  /** `code_verifier` of RFC 7636. */
  readonly verifier: string;
  /** URL to which the browser goes at the end. */
  readonly target: string;
  /** The session that links or tests. */
  readonly session: { readonly userId: string; readonly sessionId: string } | null;
  /** The organization whose single sign-on it is. */
  readonly organizationId: string | null;
  /** Digest of the settings with which it began (of support access: with which the first factor was proven); it is not valid for others. */
  readonly settings: string | null;
  /** Why support access is needed; only of support access. */
  readonly reason?: string;
  /** The connection that is being made; only of integrations. */
  readonly connecting?: {
    readonly integrationId: string;
    readonly definitionId: string;
    readonly credentialRef: string;
    /** Values that the adapter needs when the browser comes back. */
    readonly kept: Readonly<Record<string, string>>;
  };
}

/** A state that was opened, and when it was made. */
export interface OpenedState extends SignInState {
  readonly begunAt: Date;
}

/**
 * Seals the state of a sign-in at a provider into a cookie of the browser that begins it (a JWT, encrypted with AES-256-GCM), so that
 * another browser cannot finish it. That it is used once is for the database to decide.
 */
export class SignInStates {
  readonly #secrets: () => Config['sessions'];
  readonly #clock: Clock;

  constructor(secrets: () => Config['sessions'], clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  seal(state: SignInState): Promise<string> {
    const [{ id, key }] = this.#keys;
    const now = this.#clock.now();
    return new EncryptJWT({ ...state })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: stateType, kid: id })
      .setIssuedAt(now)
      .setExpirationTime(new Date(now.getTime() + stateLifetimeMs))
      .encrypt(key);
  }

  /** @returns undefined for a value that this server has not made, or that has expired */
  async open(value: string): Promise<OpenedState | undefined> {
    if (value.length > maxLength || !isCompactForm(value, 5)) return undefined;
    const keys = this.#keys;
    try {
      const { payload } = await jwtDecrypt(value, ({ kid }) => keys.find(({ id }) => id === kid)?.key ?? keys[0].key, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        typ: stateType,
        currentDate: this.#clock.now(),
        requiredClaims: ['iat', 'exp'],
      });
      // Only this server knows the key, so it has the form in which it was sealed.
      const { iat, exp: _exp, ...state } = payload as typeof payload & SignInState & { readonly iat: number };
      return { ...(state as SignInState), begunAt: new Date(iat * 1_000) };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  get #keys() {
    return encryptionKeys(this.#secrets().encryptionkey, 'sign-in-state');
  }
}
