import { hash } from 'node:crypto';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import { ownParties, rejectedToken, type SignedTokens, type TokenParties, type TokenType } from './signed-tokens.ts';

const challengeToken: TokenType = {
  typ: 'challenge+jwt',
  rejection: 'The challenge is not valid, has been answered, or has expired; sign in again.',
};

/** Ways to prove who somebody is, before a second factor. */
const signInMethods = ['password', 'passkey', 'provider', 'single_sign_on'] as const;
export type SignInMethod = (typeof signInMethods)[number];

type OwnClaim = 'amr' | 'crd' | 'cid' | 'sso' | 'ssr' | 'ssm';

/** Lifetime of a challenge, in milliseconds. */
export const challengeLifetimeMs = 5 * 60_000;

/** Proof that a person has given before they are asked for a second factor. */
export interface Challenge {
  /** `jti`: a challenge is answered once. */
  readonly id: string;
  readonly userId: string;
  readonly method: SignInMethod;
  /** `cid`: id of the passkey or the linked identity of the first proof, which must still be there; null for a password. */
  readonly credentialId: string | null;
  /** `sso`: the organization whose single sign-on it was; null for other methods. */
  readonly singleSignOnId: string | null;
  /** `ssr`: `revision` of its provider. */
  readonly singleSignOnRevision: string | null;
  /** `ssm`: id of the membership with which it let the person in. */
  readonly singleSignOnMembershipId: string | null;
  /** Digest of the credential that was valid at the first proof; another password makes the challenge useless. */
  readonly credential: string;
}

/**
 * Issues and verifies challenges: signed JWTs of a type and an audience of their own, without a session, which only
 * `/v1/2fa/validate` accepts.
 */
export class ChallengeTokens {
  readonly #tokens: SignedTokens;
  readonly #issuer: () => string;
  readonly #clock: Clock;

  constructor(tokens: SignedTokens, config: () => Config, clock: Clock) {
    this.#tokens = tokens;
    this.#issuer = () => config().auth.token.issuer;
    this.#clock = clock;
  }

  async issue({ userId, method, credentialId, credential, ...signOn }: Omit<Challenge, 'id'>): Promise<string> {
    const notBefore = this.#clock.now();
    return this.#tokens.sign(challengeToken, this.#parties(), {
      subject: userId,
      id: newId(),
      notBefore,
      expiresAt: new Date(notBefore.getTime() + challengeLifetimeMs),
      own: {
        amr: [method],
        crd: credential,
        cid: credentialId,
        sso: signOn.singleSignOnId,
        ssr: signOn.singleSignOnRevision,
        ssm: signOn.singleSignOnMembershipId,
      },
    });
  }

  /** @throws AppError unauthenticated, with the same message for every reason */
  async verify(token: string): Promise<Challenge> {
    const { payload, isYetValid, isForeign } = await this.#tokens.verify(challengeToken, this.#parties(), token);
    const { sub, jti, amr, crd, cid, sso, ssr, ssm } = payload as typeof payload & Readonly<Record<OwnClaim, unknown>>;
    const method = signInMethods.find((known) => Array.isArray(amr) && amr[0] === known);
    if (isForeign || !isYetValid || !isId(sub) || !isId(jti) || method === undefined || typeof crd !== 'string')
      throw refusedChallenge();
    if (!isIdOrNull(cid) || !isIdOrNull(sso) || !isIdOrNull(ssr) || !isIdOrNull(ssm)) throw refusedChallenge();
    const signOn = { singleSignOnId: sso, singleSignOnRevision: ssr, singleSignOnMembershipId: ssm };
    return { id: jti, userId: sub, method, credentialId: cid, ...signOn, credential: crd };
  }

  #parties(): TokenParties {
    return ownParties(this.#issuer(), 'v1/2fa/validate');
  }
}

function isIdOrNull(value: unknown): value is string | null {
  return value === null || isId(value);
}

/** The error for a challenge that is no longer valid. */
export function refusedChallenge() {
  return rejectedToken(challengeToken);
}

/** Part of a password hash, which is random and long, that a challenge keeps: nobody finds the hash by its digest. */
export function credentialDigest(passwordHash: string | null): string {
  return hash('sha256', passwordHash ?? '', 'base64url');
}
