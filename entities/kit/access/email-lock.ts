import type { Work } from '../storage/work.ts';

/**
 * Until the end of the transaction, work for this e-mail address is done by this unit of work alone: of sign-ups and mails
 * asked for at the same time the second sees what the first one made, instead of telling by a conflict that the address
 * was new, or mailing twice.
 * @param email in lower case
 */
export async function lockEmail(work: Work, email: string): Promise<void> {
  const session = await work.readAs('system');
  await session.query(`select pg_advisory_xact_lock(hashtextextended('address:' || $1, 0))`, [email]);
}
