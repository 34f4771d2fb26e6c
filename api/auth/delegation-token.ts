import { decodeProtectedHeader } from 'jose';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { isId } from '#entities/kit/base/ids.ts';
import {
  maxTokenLength,
  ownParties,
  rejectedToken,
  type SignedTokens,
  type TokenParties,
  type TokenType,
} from './signed-tokens.ts';

const rejection = 'The token is not valid, or the access has ended.';

/** A type for each reason to act as somebody else, so that neither is accepted as the other, or as an access token. */
const tokenTypes = {
  support: { typ: 'support+jwt', rejection },
  impersonation: { typ: 'impersonation+jwt', rejection },
} as const satisfies Readonly<Record<string, TokenType>>;

type DelegationType = keyof typeof tokenTypes;

/** Claims of the token of a delegation. */
export interface DelegationClaims {
  /** `jti`: id of the record that the token ends with. */
  readonly delegationId: string;
  readonly type: DelegationType;
  readonly organizationId: string;
}

interface NewDelegation extends DelegationClaims {
  /** `sub`: as whom somebody acts. */
  readonly subjectId: string;
  /** `act`: who acts (RFC 8693, section 4.1). */
  readonly actorId: string;
  readonly expiresAt: Date;
}

/** Issues and verifies the tokens of those who act as somebody else. They are bearer tokens only: no cookie carries them. */
export class DelegationTokens {
  readonly #tokens: SignedTokens;
  readonly #issuer: () => string;
  readonly #clock: Clock;

  constructor(tokens: SignedTokens, config: () => Config, clock: Clock) {
    this.#tokens = tokens;
    this.#issuer = () => config().auth.token.issuer;
    this.#clock = clock;
  }

  issue({ delegationId, type, organizationId, subjectId, actorId, expiresAt }: NewDelegation): Promise<string> {
    return this.#tokens.sign(tokenTypes[type], this.#parties(type), {
      subject: subjectId,
      id: delegationId,
      notBefore: this.#clock.now(),
      expiresAt,
      own: { org: organizationId, act: { sub: actorId } },
    });
  }

  /** @throws AppError unauthenticated, with the same message for every reason */
  async verify(type: DelegationType, token: string): Promise<DelegationClaims> {
    const { payload, isYetValid, isForeign } = await this.#tokens.verify(tokenTypes[type], this.#parties(type), token);
    const { jti, org } = payload as typeof payload & { readonly org: unknown };
    if (isForeign || !isYetValid || !isId(jti) || !isId(org)) throw rejectedToken(tokenTypes[type]);
    return { delegationId: jti, type, organizationId: org };
  }

  #parties(type: DelegationType): TokenParties {
    return ownParties(this.#issuer(), type);
  }
}

/** The type of a token by its header, which nobody has verified; undefined for other tokens. */
export function delegationTypeOf(token: string): DelegationType | undefined {
  if (token.length > maxTokenLength) return undefined;
  try {
    const { typ } = decodeProtectedHeader(token);
    return (Object.keys(tokenTypes) as DelegationType[]).find((type) => tokenTypes[type].typ === typ);
  } catch {
    // No JWT: other verifiers say so.
    return undefined;
  }
}
