import type { FastifyRequest } from 'fastify';
import { isAppError } from '#entities/kit/base/errors.ts';
import { findCallerAgain, isCallerConfirmed } from './request-caller.ts';
import { asAppError } from './response/problem.ts';
import type { Services } from './services.ts';

/** Attempts at one request: the first and two more. */
const maxAttempts = 3;

/** Whether PostgreSQL ended a transaction because of concurrent ones. */
export function isConflict(error: unknown): boolean {
  return isAppError(error) && error.code === 'concurrent_changes';
}

/**
 * Runs the work of a request, and runs it again when PostgreSQL ended its transaction because of a deadlock or a serialization
 * failure (PostgreSQL, Transaction Isolation: the whole transaction must be repeated), or when the caller is no longer who was
 * assumed. Each attempt has a unit of work, a caller and cookies of its own; nothing of an earlier attempt is stored, announced or
 * recorded outside of the request.
 * @param attempt creates its unit of work and leaves it open when it fails
 * @param causeOf the error that a wrapper contains
 * @throws AppError concurrent_changes when the last attempt fails too, and whatever else an attempt throws
 */
export async function repeatRequest<T>(
  request: FastifyRequest,
  services: Services,
  attempt: () => Promise<T> | T,
  causeOf: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  const { core } = request;
  const { conflicts } = services.metrics;
  const { cookies } = core;
  for (let number = 1; ; number++) {
    let outcome: { readonly value: T } | { readonly error: unknown };
    try {
      outcome = { value: await attempt() };
    } catch (error) {
      outcome = { error };
    }
    // The result of work for a caller whose state has changed is discarded.
    if (!core.assumption || (await isCallerConfirmed(request, services))) {
      if ('value' in outcome) return outcome.value;
      const cause = causeOf(outcome.error);
      if (!isConflict(cause)) throw outcome.error;
      // A unit of work that is not open was ended by its client or by its commit.
      const isLast = number === maxAttempts || core.unit?.state !== 'open';
      conflicts.inc({ outcome: isLast ? 'refused' : 'repeated' });
      if (isLast) throw outcome.error;
      request.log.info({ attempt: number, err: cause }, 'the unit of work is repeated');
    }
    await core.unit?.abandon();
    core.unit = undefined;
    core.cookies = cookies;
    try {
      await findCallerAgain(request, services);
    } catch (error) {
      core.refusal = asAppError(error);
      throw error;
    }
  }
}
