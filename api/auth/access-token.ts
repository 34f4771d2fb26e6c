import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import {
  maxTokenLength,
  rejectedToken,
  type SignedTokens,
  type TokenParties,
  type TokenType,
  type VerifiedToken,
} from './signed-tokens.ts';
import type { SigningKeys } from './signing-keys.ts';

/** RFC 9068. */
const accessToken: TokenType = {
  typ: 'at+jwt',
  rejection: 'The access token is not valid or has expired; sign in again.',
  expired: 'The access token has expired: exchange the refresh token with POST /v1/refresh, or sign in again.',
};

/** Maximum number of tokens whose verified signature is cached. */
const maxCached = 10_000;

/** A token with a valid signature, the period in which it is valid, and what it was verified with. */
interface Verified {
  readonly claims: AccessClaims;
  readonly notBefore: Date;
  readonly parties: TokenParties;
  readonly keys: SigningKeys;
}

interface AccessTokenSettings extends TokenParties {
  /** Lifetime in milliseconds (configuration `auth.token.accessduration`). */
  readonly accessDurationMs: number;
}

export function accessTokenSettings({ auth: { token } }: Config): AccessTokenSettings {
  const { issuer, audience, accessduration } = token;
  return { issuer, audience, accessDurationMs: accessduration };
}

export interface AccessClaims {
  /** `jti`: used in logs. */
  readonly tokenId: string;
  readonly userId: string;
  /** `org`: the organization that the token is valid for. */
  readonly organizationId: string | null;
  /** `sid`: id of the session that the token ends with; CSRF tokens are bound to it. */
  readonly sessionId: string;
  readonly expiresAt: Date;
}

export interface IssuedToken extends AccessClaims {
  readonly token: string;
}

/** Issues and verifies access tokens, which are signed JWTs. */
export class AccessTokens {
  readonly #tokens: SignedTokens;
  readonly #settings: () => AccessTokenSettings;
  readonly #clock: Clock;
  /** By hash of the token: its signature is verified only once. */
  readonly #verified = new LRUCache<string, Verified>({ max: maxCached });

  constructor(tokens: SignedTokens, settings: () => AccessTokenSettings, clock: Clock) {
    this.#tokens = tokens;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** When a token expires that is issued now. @param endsAt when its session ends, at the latest, which it does not outlive */
  expiry(endsAt: Date): Date {
    const { accessDurationMs } = this.#settings();
    return new Date(Math.min(this.#clock.now().getTime() + accessDurationMs, endsAt.getTime()));
  }

  /**
   * @param endsAt when the session ends, at the latest
   * @param modules product modules of the organization, for the client: this server reads them anew with each request
   */
  async issue(
    { userId, organizationId, sessionId }: Pick<AccessClaims, 'userId' | 'organizationId' | 'sessionId'>,
    endsAt: Date,
    modules: readonly string[] = [],
  ): Promise<IssuedToken> {
    const { issuer, audience } = this.#settings();
    const notBefore = this.#clock.now();
    const expiresAt = this.expiry(endsAt);
    const claims = { tokenId: newId(), userId, organizationId, sessionId, expiresAt };
    const own = { org: organizationId, sid: sessionId, modules };
    const token = await this.#tokens.sign(
      accessToken,
      { issuer, audience },
      {
        subject: userId,
        id: claims.tokenId,
        notBefore,
        expiresAt,
        own,
      },
    );
    return { ...claims, token };
  }

  /** The claims of a token whose signature was verified before and which is still valid. */
  known(token: string): AccessClaims | undefined {
    // Before it is hashed.
    if (token.length > maxTokenLength) return undefined;
    const known = this.#verified.get(hash('sha256', token, 'base64url'));
    const isGood =
      known?.keys === this.#tokens.keys &&
      isSameParties(known.parties, this.#settings()) &&
      isValidAt(known, this.#clock.now());
    return isGood ? known.claims : undefined;
  }

  /** @throws AppError unauthenticated, with the same message for every reason but that a good token has expired */
  async verify(token: string): Promise<AccessClaims> {
    const known = this.known(token);
    if (known) return known;
    const { issuer, audience } = this.#settings();
    const { keys } = this.#tokens;
    const verified = await this.#tokens.verify(accessToken, { issuer, audience }, token);
    if (!verified.isYetValid) throw rejectedToken(accessToken);
    const claims = claimsOf(verified.payload);
    const notBefore = new Date(verified.payload.nbf * 1_000);
    // The keys may have been replaced meanwhile.
    if (keys === this.#tokens.keys && !verified.isForeign)
      this.#verified.set(hash('sha256', token, 'base64url'), {
        claims,
        notBefore,
        parties: { issuer, audience },
        keys,
      });
    return claims;
  }
}

function isSameParties(one: TokenParties, other: TokenParties): boolean {
  return one.issuer === other.issuer && one.audience === other.audience;
}

/** Whether a verified token is valid at this time, to the second, as jose compares. */
function isValidAt({ claims, notBefore }: Verified, now: Date): boolean {
  const seconds = Math.floor(now.getTime() / 1_000) * 1_000;
  return notBefore.getTime() <= seconds && seconds < claims.expiresAt.getTime();
}

function claimsOf({
  sub,
  jti,
  exp,
  org,
  sid,
}: VerifiedToken['payload'] & { org?: unknown; sid?: unknown }): AccessClaims {
  if (!isId(sub) || !isId(jti) || !isId(sid) || !(org === null || isId(org))) throw rejectedToken(accessToken);
  return { tokenId: jti, userId: sub, organizationId: org, sessionId: sid, expiresAt: new Date(exp * 1_000) };
}
