import { AppError } from '../errors.ts';
import { isId } from '../ids.ts';
import { isSignedBy, sign } from './keys.ts';

/** Tokens of one purpose are never accepted for another. */
export type TokenPurpose =
  | 'email-verification'
  | 'password-reset'
  | 'email-change'
  | 'reactivation'
  | 'invite'
  | 'subscriber-verification'
  | 'unsubscribe';

/**
 * The token in the link of a mail: `<id>.<signature>`. It is never stored or queued: it is derived from the record's id and
 * round with a key of the server whenever it is needed.
 */
export function oneTimeToken(key: Buffer, purpose: TokenPurpose, id: string, round: number): string {
  return `${id}.${sign(key, [purpose, id, String(round)]).toString('base64url')}`;
}

/** The record id a token claims to be for. @throws AppError invalid_token */
export function claimedId(purpose: TokenPurpose, token: string): string {
  const [id, signature, ...rest] = token.split('.');
  if (!isId(id) || !signature || rest.length > 0) throw invalidToken(purpose);
  return id;
}

/** @throws AppError invalid_token unless the token is the one of this purpose, record and round */
export function checkOneTimeToken(key: Buffer, purpose: TokenPurpose, id: string, round: number, token: string): void {
  if (!isOneTimeToken(key, purpose, id, round, token)) throw invalidToken(purpose);
}

/** Whether the token is the one of this purpose, record and round. @param id the one that the token claims */
export function isOneTimeToken(key: Buffer, purpose: TokenPurpose, id: string, round: number, token: string): boolean {
  return isSignedBy(key, [purpose, id, String(round)], token.slice(id.length + 1));
}

/** How somebody gets another link. */
const remedies: Readonly<Record<TokenPurpose, string>> = {
  'email-verification': 'request a new one with POST /v1/resend, or sign in if the address is confirmed already',
  'password-reset': 'request a new one with POST /v1/forgot-password',
  'email-change': 'change the address again with POST /v1/account/email',
  reactivation: 'sign in if the account is active again, or request a new one with POST /v1/resend',
  invite: 'ask a manager of the organization to send the invitation again',
  'subscriber-verification': 'ask the organization to send the e-mail again',
  unsubscribe: 'use the link of another e-mail of the organization',
};

export function invalidToken(purpose: TokenPurpose): AppError {
  return new AppError('invalid_token', `This link is not valid or was used already; ${remedies[purpose]}.`);
}

export function expiredToken(purpose: TokenPurpose): AppError {
  return new AppError('token_expired', `This link has expired; ${remedies[purpose]}.`);
}
