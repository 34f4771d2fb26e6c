import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { checkOneTimeToken, isOneTimeToken, type TokenPurpose } from '#entities/kit/base/secrets/one-time-token.ts';
import type { Services } from '../../../http/services.ts';

/** The key of the tokens of mailed links. */
export function linkKey({ config }: Pick<Services, 'config'>): Buffer {
  return deriveKey(config.current.sessions.signingkey, 'one-time-token');
}

/** @throws AppError invalid_token unless the token of a mailed link is the one of this purpose, record and round */
export function checkLink(
  services: Pick<Services, 'config'>,
  purpose: TokenPurpose,
  id: string,
  round: number,
  token: string,
): void {
  checkOneTimeToken(linkKey(services), purpose, id, round, token);
}

/** Rounds before the present one whose links are recognized. */
const earlierRounds = 50;

/**
 * To which round of a record the token of a mailed link belongs: the present one, or one before it. The holder of such a token got the
 * e-mail. All rounds are compared for every token, so the time says nothing about the record.
 */
export function roundOfLink(
  services: Pick<Services, 'config'>,
  purpose: TokenPurpose,
  id: string,
  round: number,
  token: string,
): 'present' | 'earlier' | undefined {
  const key = linkKey(services);
  const isOf = Array.from({ length: earlierRounds + 1 }, (_, back) =>
    isOneTimeToken(key, purpose, id, round - back, token),
  );
  if (isOf[0]) return 'present';
  return isOf.includes(true) ? 'earlier' : undefined;
}
