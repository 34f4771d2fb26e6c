import type { FastifyRequest } from 'fastify';
import { deadlineExceeded } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';

/**
 * Waits for work until the deadline of the request. Work that continues afterwards finds its unit of work closed.
 * @throws AppError deadline_exceeded
 */
export function withinDeadline<T>(request: FastifyRequest, work: Promise<T> | T): Promise<T> {
  return withTimeout(Promise.resolve(work), request.core.deadline - Date.now(), () => {
    throw deadlineExceeded();
  });
}
