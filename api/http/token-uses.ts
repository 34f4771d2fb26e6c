import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { TokenPrincipal } from '#entities/kit/access/principal-state.ts';
import { recordTokenUse } from '#entities/kit/access/token-use.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import type { Database } from '#entities/kit/unit/database.ts';

/** Time in which further uses of a token are not recorded, in milliseconds. */
const intervalMs = 60_000;

/** Number of tokens whose last recorded use is known. */
const maxKnown = 10_000;

/** Time that recording a use may take, in milliseconds. */
const timeoutMs = 5_000;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Records when tokens are used: at most once a minute for each token, after the response. */
export class TokenUses {
  readonly #dependencies: Dependencies;
  readonly #recorded = new LRUCache<string, number>({ max: maxKnown });

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  note({ sort, tokenId }: TokenPrincipal): void {
    const { database, clock, logger } = this.#dependencies;
    const at = clock.now();
    const last = this.#recorded.get(tokenId);
    if (last !== undefined && Math.abs(at.getTime() - last) < intervalMs) return;
    this.#recorded.set(tokenId, at.getTime());
    recordTokenUse(database, { sort, tokenId, at }, Date.now() + timeoutMs).catch((error: unknown) =>
      logger.warn({ err: error, token_id: tokenId }, 'the use of a token could not be recorded'),
    );
  }
}
