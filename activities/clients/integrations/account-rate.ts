import { setTimeout as pause } from 'node:timers/promises';
import { pauseAccount, takeAccountSlot } from '#entities/integrations/account-rate-rows.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { workContext } from '../temporal/work-origin.ts';
import { ProviderError } from './provider-error.ts';

/** Longest wait for the rate of an account, in milliseconds. Work that would wait longer is tried again later. */
const maxWaitMs = 10_000;

interface Rates {
  readonly database: Database;
}

/**
 * Waits until a request may be sent to an account at another system. All processes share its rate. No transaction is open meanwhile.
 * @param account such as `chat/T024BE7LD`
 * @param options `cost`: part of the rate that the request takes, as a number of requests; `perSecond`: the rate; without it, only pauses that
 * the other system has asked for are waited for
 * @throws ProviderError rate_limited when it would wait for more than ten seconds
 */
export async function takeSlot(
  rates: Rates,
  account: string,
  {
    cost = 1,
    perSecond,
    signal,
  }: { readonly cost?: number; readonly perSecond?: number | undefined; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const spacingMs = perSecond === undefined ? 0 : (cost * 1_000) / perSecond;
  const { waitMs, isTaken } = await transact(rates, (unit) => takeAccountSlot(unit, account, { spacingMs, maxWaitMs }));
  if (!isTaken)
    throw new ProviderError(
      'rate_limited',
      'The account at the other system takes no more requests for some time. The server tries again by itself.',
      { retryAfterMs: Math.ceil(waitMs) },
    );
  if (waitMs > 0) await pause(Math.ceil(waitMs), undefined, signal ? { signal } : {});
}

/** Keeps all processes from sending requests to an account, because the other system has asked for a pause. */
export function pauseRequests(rates: Rates, account: string, pauseMs: number): Promise<void> {
  return transact(rates, (unit) => pauseAccount(unit, account, pauseMs));
}

function transact<T>({ database }: Rates, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  return database.transact(workContext(systemCaller('rate of an account'), 'integration-rates'), work);
}
