import {
  errors,
  jwtVerify,
  SignJWT,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTPayload,
} from 'jose';
import type { Clock } from '#entities/kit/base/clock.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { KeyRing } from './key-ring.ts';
import type { RemoteKeys } from './remote-keys.ts';
import { acceptedAlgorithms } from './signing-key.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Maximum length of a token in characters. */
export const maxTokenLength = 4_096;

/** Type of a token. Its header `typ` says so, and none is accepted as another (RFC 8725, section 3.11). */
export interface TokenType {
  /** Header `typ`, for example `at+jwt` (RFC 9068). */
  readonly typ: string;
  /** The message for a token that is not accepted, whatever the reason. */
  readonly rejection: string;
  /** The message for a token that was good until it expired; without it, `rejection`. */
  readonly expired?: string;
}

/** From whom a token comes, and for whom it is. */
export interface TokenParties {
  readonly issuer: string;
  readonly audience: string;
}

/** The parties of tokens that this server alone accepts: services that accept access tokens by their audience alone accept none of them. */
export function ownParties(issuer: string, audience: string): TokenParties {
  return { issuer, audience: `${issuer}/${audience}` };
}

interface TokenClaims {
  /** `sub`: id of the user. */
  readonly subject: string;
  /** `jti`. */
  readonly id: string;
  readonly notBefore: Date;
  readonly expiresAt: Date;
  /** Claims that only this type of token has. */
  readonly own: JWTPayload;
}

/** Claims of a token whose signature, type, parties and expiry have been checked. */
export interface VerifiedToken {
  readonly payload: JWTPayload & { readonly nbf: number; readonly exp: number };
  /** False for a token whose `nbf` is in the future. */
  readonly isYetValid: boolean;
  /** Whether another server has signed it, whose keys may change at any time. */
  readonly isForeign: boolean;
}

/** Signs JWTs of several types with the keys of this server; verifies those, and what the keys of `auth.token.jwksendpoint` signed. */
export class SignedTokens {
  readonly #ring: KeyRing;
  readonly #clock: Clock;
  readonly #remote: RemoteKeys | undefined;

  constructor(ring: KeyRing, clock: Clock, remote?: RemoteKeys) {
    this.#ring = ring;
    this.#clock = clock;
    this.#remote = remote;
  }

  /** The keys in use; another object when they have changed. */
  get keys(): SigningKeys {
    return this.#ring.current;
  }

  /** The public key set served at `/.well-known/jwks.json`. */
  get publicKeys(): JSONWebKeySet {
    return this.keys.publicKeys;
  }

  sign({ typ }: TokenType, { issuer, audience }: TokenParties, claims: TokenClaims): Promise<string> {
    const { algorithm, kid, privateKey } = this.keys.signingAt(this.#clock.now());
    return new SignJWT(claims.own)
      .setProtectedHeader({ alg: algorithm, kid, typ })
      .setSubject(claims.subject)
      .setJti(claims.id)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(this.#clock.now())
      .setNotBefore(claims.notBefore)
      .setExpirationTime(claims.expiresAt)
      .sign(privateKey);
  }

  /** @throws AppError unauthenticated, with the same message for every reason */
  async verify(type: TokenType, { issuer, audience }: TokenParties, token: string): Promise<VerifiedToken> {
    if (token.length > maxTokenLength || !isCompactForm(token)) throw rejectedToken(type);
    let isForeign = false;
    const findKey = async (header: JWSHeaderParameters, jws: FlattenedJWSInput): Promise<CryptoKey> => {
      // This server issues no tokens with critical extensions (RFC 7515, section 4.1.11).
      if (header.crit || header['typ'] !== type.typ) throw rejectedToken(type);
      const own = await this.#ownKey(header, jws);
      if (own) return own;
      if (!this.#remote) throw rejectedToken(type);
      isForeign = true;
      return this.#remote.find(header, jws);
    };
    try {
      const { payload } = await jwtVerify(token, findKey, {
        algorithms: [...acceptedAlgorithms],
        typ: type.typ,
        issuer,
        audience,
        currentDate: this.#clock.now(),
        requiredClaims: ['exp', 'iat', 'nbf', 'sub', 'jti'],
      });
      return { payload: payload as VerifiedToken['payload'], isYetValid: true, isForeign };
    } catch (error) {
      // `nbf` is checked last but for `exp`, which is later.
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf' && error.reason === 'check_failed')
        return { payload: error.payload as VerifiedToken['payload'], isYetValid: false, isForeign };
      // `exp` is checked after the signature and all other claims: this says nothing about forged tokens.
      if (error instanceof errors.JWTExpired && type.expired !== undefined)
        throw new AppError('unauthenticated', type.expired, { cause: error });
      if (error instanceof errors.JOSEError) throw rejectedToken(type, error);
      throw error;
    }
  }

  /** The key of this server that a token names. A key that is not known may have been added a moment ago. */
  async #ownKey(header: JWSHeaderParameters, jws: FlattenedJWSInput): Promise<CryptoKey | undefined> {
    const { keys } = this;
    const known = await found(keys, header, jws);
    if (known || keys.keys.some(({ kid }) => kid === header.kid)) return known;
    await this.#ring.pollUrgently();
    return keys === this.keys ? undefined : found(this.keys, header, jws);
  }
}

/** @returns undefined when no key of the set fits the token */
async function found(
  keys: SigningKeys,
  header: JWSHeaderParameters,
  jws: FlattenedJWSInput,
): Promise<CryptoKey | undefined> {
  try {
    return await keys.find(header, jws);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined;
    throw error;
  }
}

export function rejectedToken({ rejection }: TokenType, cause?: unknown): AppError {
  return new AppError('unauthenticated', rejection, { cause });
}

/** Whether a value has so many parts, all of them canonical base64url: decoders ignore padding, spaces and trailing bits. */
export function isCompactForm(value: string, count: 3 | 5 = 3): boolean {
  const parts = value.split('.', count + 1);
  return parts.length === count && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
