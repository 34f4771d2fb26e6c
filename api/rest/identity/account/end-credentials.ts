import { externalIdentity } from '#entities/identity/external-identity.ts';
import { passkey } from '#entities/identity/passkey.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Ways to open an account besides its password. */
const credentials = [externalIdentity, passkey, personalAccessToken] as const;

/** Records that one statement deletes. */
const batchSize = 1_000;

/** Removes everything that opens the account of a person, who is locked, besides the password. The second factor stays. */
export async function endCredentials(data: DataClient, userId: string): Promise<void> {
  for (const module of credentials) {
    for (let isMore = true; isMore;) {
      const held = await data.find(module, { where: { userId: { eq: userId } }, limit: batchSize });
      const ids = held.map(({ id }) => id);
      if (ids.length > 0) await data.removeAll(module, ids);
      isMore = ids.length === batchSize;
    }
  }
}
