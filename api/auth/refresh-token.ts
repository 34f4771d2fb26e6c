import { hash } from 'node:crypto';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import { rejectedToken, type SignedTokens, type TokenParties, type TokenType } from './signed-tokens.ts';

const refreshToken: TokenType = {
  typ: 'rt+jwt',
  rejection: 'The refresh token is not valid, has been used, or has expired; sign in again.',
};

interface RefreshTokenSettings extends TokenParties {
  /** Lifetime in milliseconds (configuration `auth.token.refreshduration`). */
  readonly refreshDurationMs: number;
  /** Time from the expiry of the access token to the moment from which the token is valid: negative, in milliseconds. */
  readonly refreshOverlapMs: number;
}

export function refreshTokenSettings({ auth: { token } }: Config): RefreshTokenSettings {
  const { issuer, audience, refreshaudience, refreshduration, refreshoverlap } = token;
  return {
    issuer,
    audience: refreshaudience || audience,
    refreshDurationMs: refreshduration,
    refreshOverlapMs: refreshoverlap,
  };
}

export interface RefreshClaims {
  readonly userId: string;
  /** `sid`: id of the session that the token belongs to. */
  readonly sessionId: string;
  readonly notBefore: Date;
  readonly expiresAt: Date;
}

export interface IssuedRefreshToken extends RefreshClaims {
  readonly token: string;
  /** Form of the token that the session keeps. */
  readonly tokenHash: string;
}

/** Issues and verifies refresh tokens: signed JWTs, of which a session accepts only the newest, once. */
export class RefreshTokens {
  readonly #tokens: SignedTokens;
  readonly #settings: () => RefreshTokenSettings;
  readonly #clock: Clock;

  constructor(tokens: SignedTokens, settings: () => RefreshTokenSettings, clock: Clock) {
    this.#tokens = tokens;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** When a session ends whose tokens are issued now. */
  sessionEnd(): Date {
    return new Date(this.#clock.now().getTime() + this.#settings().refreshDurationMs);
  }

  /** @param accessExpiresAt when the access token that is issued with it expires */
  async issue(
    { userId, sessionId, expiresAt }: Pick<RefreshClaims, 'userId' | 'sessionId' | 'expiresAt'>,
    accessExpiresAt: Date,
  ): Promise<IssuedRefreshToken> {
    const { issuer, audience, refreshOverlapMs } = this.#settings();
    const notBefore = new Date(accessExpiresAt.getTime() + refreshOverlapMs);
    const token = await this.#tokens.sign(
      refreshToken,
      { issuer, audience },
      { subject: userId, id: newId(), notBefore, expiresAt, own: { sid: sessionId } },
    );
    return { userId, sessionId, notBefore, expiresAt, token, tokenHash: hashOfToken(token) };
  }

  /**
   * A token that is not valid yet is accepted here: `notBefore` says so.
   * @throws AppError unauthenticated, with the same message for every reason
   */
  async verify(token: string): Promise<RefreshClaims> {
    const { issuer, audience } = this.#settings();
    const { payload } = await this.#tokens.verify(refreshToken, { issuer, audience }, token);
    const { sub, sid, nbf, exp } = payload as typeof payload & { readonly sid?: unknown };
    if (!isId(sub) || !isId(sid)) throw rejectedToken(refreshToken);
    return { userId: sub, sessionId: sid, notBefore: new Date(nbf * 1_000), expiresAt: new Date(exp * 1_000) };
  }
}

/** @returns SHA-256 in base64url */
export function hashOfToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** The error for a refresh token that stands for no session any more. */
export function refusedRefresh(): AppError {
  return rejectedToken(refreshToken);
}
