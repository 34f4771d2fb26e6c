import { deriveKey } from '#entities/kit/base/keys.ts';
import { checkOneTimeToken, type TokenPurpose } from '#entities/kit/base/one-time-token.ts';
import type { Services } from '../../http/services.ts';

/** @throws AppError invalid_token unless the token of a mailed link is the one of this purpose, record and round */
export function checkLink(
  { config }: Pick<Services, 'config'>,
  purpose: TokenPurpose,
  id: string,
  round: number,
  token: string,
): void {
  checkOneTimeToken(deriveKey(config.current.sessions.signingkey, 'one-time-token'), purpose, id, round, token);
}
