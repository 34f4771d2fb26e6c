import type { Work } from '../storage/work.ts';

/**
 * Locks an e-mail address until the end of the transaction. Of two concurrent sign-ups or mail requests for one address, the
 * second sees the records of the first. Without the lock it would fail with a conflict, which reveals that the address was new,
 * or send a second mail.
 * @param email in lower case
 */
export async function lockEmail(work: Work, email: string): Promise<void> {
  await work.runAsSystem(`select pg_advisory_xact_lock(hashtextextended('address:' || $1, 0))`, [email]);
}
