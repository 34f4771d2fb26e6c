import { deriveKey } from '#entities/kit/base/keys.ts';
import { checkOneTimeToken, type TokenPurpose } from '#entities/kit/base/one-time-token.ts';
import type { Services } from '../../http/services.ts';

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
