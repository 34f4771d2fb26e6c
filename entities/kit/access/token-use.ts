import type { TokenSort } from '../model/scopes.ts';
import { changeOutsideTransaction } from '../storage/one-round-trip.ts';
import type { StatementSource } from '../storage/transaction.ts';

interface TokenUse {
  readonly sort: TokenSort;
  readonly tokenId: string;
  readonly at: Date;
}

/**
 * Records when a token was last used, in a statement of its own. It is no change of the record: it gets no version, no history entry
 * and no event. Uses within a minute after the recorded one are ignored.
 */
export async function recordTokenUse(
  database: StatementSource,
  { sort, tokenId, at }: TokenUse,
  deadline: number,
): Promise<void> {
  await changeOutsideTransaction(
    database,
    { role: 'app', organizationId: null, userId: null, deadline },
    { text: 'select record_token_use($1, $2, $3)', values: [sort, tokenId, at] },
  );
}
