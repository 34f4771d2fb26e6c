import { pipelinedRead } from '../kit/storage/one-round-trip.ts';
import type { StatementSource } from '../kit/storage/transaction.ts';

/** Credential that a person who signs in with a password has to prove. */
interface SignInCredential {
  readonly id: string;
  /** Null for a user without a password. */
  readonly passwordHash: string | null;
}

/**
 * Reads the credential of an account, in a transaction that has ended when it returns: hashing takes long.
 * @param email in lower case
 * @param settings its deadline is in milliseconds since the epoch
 * @throws AppError invalid_input for a text that no address can be; database_busy, database_unavailable, deadline_exceeded
 */
export async function readSignInCredential(
  database: StatementSource,
  email: string,
  settings: { readonly deadline: number; readonly traceparent: string },
): Promise<SignInCredential | undefined> {
  const { deadline, traceparent } = settings;
  const [rows] = await pipelinedRead(
    database,
    { role: 'system', organizationId: null, userId: null, deadline, traceparent: () => traceparent },
    [{ text: 'select id, password_hash from users where email = $1 and deleted_at is null', values: [email] }],
  );
  const [[id, passwordHash = null] = []] = rows ?? [];
  return typeof id === 'string' ? { id, passwordHash } : undefined;
}
