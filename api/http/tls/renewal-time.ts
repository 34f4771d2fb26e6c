import type { Certificate } from './certificate-files.ts';

/** Part of its lifetime that a certificate still has when it is renewed, as authorities recommend. */
const renewedAt = 1 / 3;

/** From when on a certificate is renewed. */
export function renewalTime({ validFrom, expiresAt }: Pick<Certificate, 'validFrom' | 'expiresAt'>): Date {
  return new Date(expiresAt.getTime() - (expiresAt.getTime() - validFrom.getTime()) * renewedAt);
}

/**
 * Before this nothing is ordered after a success, whatever the lifetime of the certificate says: where the clock of the authority is
 * another one, each new certificate would be due at once.
 */
export function earliestNextOrder({ expiresAt }: Pick<Certificate, 'expiresAt'>, now: Date): Date {
  return new Date(now.getTime() + Math.max(0, expiresAt.getTime() - now.getTime()) / 2);
}

/** Result of an attempt. */
interface Failure {
  /** The authority could not be reached, or says itself that it cannot at the moment. */
  readonly isTemporary: boolean;
  /** The pause that it asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** The first pause and the longest one, in milliseconds. Authorities count refusals: five in an hour are too many. */
const pauses = {
  temporary: { first: 5_000, longest: 3_600_000 },
  refused: { first: 120_000, longest: 12 * 3_600_000 },
} as const;

/** The pause before the next attempt, in milliseconds. @param failed attempts that have failed one after the other, this one included */
export function pauseAfter(failed: number, { isTemporary, retryAfterMs = 0 }: Failure): number {
  const { first, longest } = isTemporary ? pauses.temporary : pauses.refused;
  return Math.max(retryAfterMs, Math.min(longest, first * 2 ** Math.min(failed - 1, 20)));
}
