import type { Credential } from '../definition.ts';
import { remedies } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';

/** A text of a credential. @throws ProviderError unauthorized for a credential without it */
export function keptText(credential: Credential, name: string): string {
  const value = credential[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new ProviderError('unauthorized', `The credential is not complete. ${remedies.unauthorized}`);
}

/** When the access token of a credential ends, if that is known. */
export function expiryOf({ expiresAt }: Credential): Date | undefined {
  return dateOf(expiresAt);
}

/** When the refresh token of a credential ends, if that is known. */
export function endOf({ endsAt }: Credential): Date | undefined {
  return dateOf(endsAt);
}

function dateOf(text: unknown): Date | undefined {
  const date = typeof text === 'string' ? new Date(text) : undefined;
  return date && Number.isFinite(date.getTime()) ? date : undefined;
}
