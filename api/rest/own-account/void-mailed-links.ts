import { emailChange } from '#entities/identity/email-change.ts';
import { emailVerification } from '#entities/identity/email-verification.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { voidResetLinks } from '../account/set-password.ts';

/** Links that one address can have; more are not mailed within their lifetime. */
const maxLinks = 1_000;

/**
 * All links that were mailed to addresses of a person stop working, because an address changes hands.
 * @param emails locked
 */
export async function voidMailedLinks(
  data: DataClient,
  userId: string,
  emails: readonly string[],
  now: Date,
): Promise<void> {
  const unused = { usedAt: { isNull: true } } as const;
  const changes = await data.find(emailChange, { where: { userId: { eq: userId }, ...unused }, limit: maxLinks });
  if (changes.length > 0) await data.updateAll(emailChange, ids(changes), { usedAt: now });
  for (const email of emails) {
    await voidResetLinks(data, email, now);
    const links = await data.find(emailVerification, { where: { email: { eq: email }, ...unused }, limit: maxLinks });
    const voided = { usedAt: now, passwordHash: null, firstName: null, lastName: null };
    if (links.length > 0) await data.updateAll(emailVerification, ids(links), voided);
  }
}

function ids(records: readonly { readonly id: string }[]): string[] {
  return records.map(({ id }) => id);
}
