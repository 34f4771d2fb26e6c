import { hash } from 'node:crypto';
import { createLocalJWKSet, errors, jwtVerify, SignJWT, type JSONWebKeySet, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#entities/kit/base/clock.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Header `typ` of access tokens (RFC 9068); tokens of other types are rejected. */
const tokenType = 'at+jwt';

/** Maximum length of a token in characters. */
const maxTokenLength = 4_096;

/** Maximum number of tokens whose verified signature is cached. */
const maxCached = 10_000;

/** A token with a valid signature, and the period in which it is valid. */
interface Verified {
  readonly claims: AccessClaims;
  readonly notBefore: Date;
  readonly settings: string;
}

export interface AccessTokenSettings {
  readonly issuer: string;
  readonly audience: string;
  /** Lifetime in milliseconds (configuration `auth.token.accessduration`). */
  readonly accessDurationMs: number;
}

export interface AccessClaims {
  /** `jti`: used for revocation and in logs. */
  readonly tokenId: string;
  readonly userId: string;
  /** `org`: the organization that the token is valid for. */
  readonly organizationId: string | null;
  /** `sid`: id of the session; CSRF tokens are bound to it. */
  readonly sessionId: string;
  readonly expiresAt: Date;
}

export interface IssuedToken extends AccessClaims {
  readonly token: string;
}

/** Issues and verifies access tokens, which are signed JWTs. */
export class AccessTokens {
  #keys: SigningKeys;
  readonly #settings: () => AccessTokenSettings;
  readonly #clock: Clock;
  #keySet: ReturnType<typeof createLocalJWKSet>;
  /** By hash of the token: its signature is verified only once. */
  readonly #verified = new LRUCache<string, Verified>({ max: maxCached });

  constructor(keys: SigningKeys, settings: () => AccessTokenSettings, clock: Clock) {
    this.#keys = keys;
    this.#settings = settings;
    this.#clock = clock;
    this.#keySet = createLocalJWKSet(keys.publicKeys);
  }

  /** Replaces the keys for signing and verification. */
  replaceKeys(keys: SigningKeys): void {
    this.#keys = keys;
    this.#keySet = createLocalJWKSet(keys.publicKeys);
    this.#verified.clear();
  }

  /** The public key set served at `/.well-known/jwks.json`. */
  get publicKeys(): JSONWebKeySet {
    return this.#keys.publicKeys;
  }

  async issue(userId: string, organizationId: string | null): Promise<IssuedToken> {
    const { issuer, audience, accessDurationMs } = this.#settings();
    const issuedAt = this.#clock.now();
    const expiresAt = new Date(issuedAt.getTime() + accessDurationMs);
    const claims = { tokenId: newId(), userId, organizationId, sessionId: newId(), expiresAt };
    const token = await new SignJWT({ org: organizationId, sid: claims.sessionId })
      .setProtectedHeader({ alg: this.#keys.signing.algorithm, kid: this.#keys.signing.kid, typ: tokenType })
      .setSubject(userId)
      .setJti(claims.tokenId)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#keys.signing.privateKey);
    return { ...claims, token };
  }

  /** @throws AppError unauthenticated, with the same message for every reason */
  async verify(token: string): Promise<AccessClaims> {
    if (token.length > maxTokenLength) throw rejected();
    const { issuer, audience } = this.#settings();
    const settings = JSON.stringify([issuer, audience]);
    const key = hash('sha256', token, 'base64url');
    const known = this.#verified.get(key);
    if (known?.settings === settings && isValidAt(known, this.#clock.now())) return known.claims;
    const keySet = this.#keySet;
    const verified = { ...(await this.#verify(token, { issuer, audience })), settings };
    // The keys may have been replaced meanwhile.
    if (keySet === this.#keySet) this.#verified.set(key, verified);
    return verified.claims;
  }

  async #verify(
    token: string,
    { issuer, audience }: Pick<AccessTokenSettings, 'issuer' | 'audience'>,
  ): Promise<Omit<Verified, 'settings'>> {
    if (!isCompactForm(token)) throw rejected();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keySet, {
        algorithms: [...this.#keys.algorithms],
        typ: tokenType,
        issuer,
        audience,
        currentDate: this.#clock.now(),
        requiredClaims: ['exp', 'iat', 'nbf', 'sub', 'jti', 'sid'],
      });
      // This server issues no tokens with critical extensions (RFC 7515, section 4.1.11).
      if (protectedHeader.crit) throw rejected();
      return { claims: claimsOf(payload), notBefore: new Date((payload.nbf as number) * 1_000) };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw rejected(error);
      throw error;
    }
  }
}

/** Whether a verified token is valid at this time, to the second, as jose compares. */
function isValidAt({ claims, notBefore }: Verified, now: Date): boolean {
  const seconds = Math.floor(now.getTime() / 1_000) * 1_000;
  return notBefore.getTime() <= seconds && seconds < claims.expiresAt.getTime();
}

/** Whether all three parts are canonical base64url: decoders ignore padding, spaces and trailing bits. */
function isCompactForm(token: string): boolean {
  const parts = token.split('.', 4);
  return parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

function claimsOf(payload: JWTPayload): AccessClaims {
  const { sub, jti, exp, org, sid } = payload as JWTPayload & { org?: unknown; sid?: unknown };
  if (!isId(sub) || !isId(jti) || !isId(sid) || exp === undefined || !(org === null || isId(org))) throw rejected();
  return { tokenId: jti, userId: sub, organizationId: org, sessionId: sid, expiresAt: new Date(exp * 1_000) };
}

function rejected(cause?: unknown): AppError {
  return new AppError('unauthenticated', 'The access token is not valid or has expired; sign in again.', { cause });
}
