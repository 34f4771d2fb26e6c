import { emailChange } from '#entities/identity/email-change.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { voidSignUpLinks } from '../account/create-account.ts';
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
  const changes = await data.find(emailChange, {
    where: { userId: { eq: userId }, usedAt: { isNull: true } },
    limit: maxLinks,
  });
  await data.updateAll(
    emailChange,
    changes.map(({ id }) => id),
    { usedAt: now },
  );
  for (const email of emails) {
    await voidResetLinks(data, email, now);
    await voidSignUpLinks(data, email, now);
  }
}
