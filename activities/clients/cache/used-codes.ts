import type { GuardedCache } from './guarded-cache.ts';

/** One-time codes that were accepted. The database keeps the last step of each person; this says it again to all processes. */
export interface UsedCodes {
  /** @returns whether the code of this time step is taken for the first time; true where nobody knows */
  take(userId: string, step: number): Promise<boolean>;
}

/** Seconds after which an entry expires; a code is accepted for at most 90. */
const expiryS = 120;

export const usedCodesNowhere: UsedCodes = { take: () => Promise.resolve(true) };

/** @param prefix of the keys; several installations may share a server */
export function usedCodesInCache(cache: GuardedCache, prefix: string): UsedCodes {
  return {
    take: async (userId, step) => {
      const key = `${prefix}:totp:${userId}:${step}`;
      return (
        (await cache.ask((connection) => connection.set(key, '1', 'EX', expiryS, 'NX'), 'OK', 'used code')) === 'OK'
      );
    },
  };
}
