import type { FastifyRequest } from 'fastify';
import { deadlineExceeded } from '#entities/kit/base/errors.ts';

/**
 * Refuses to wait longer than the request may take; what still runs finds its unit of work closed.
 * @throws AppError deadline_exceeded
 */
export async function withinDeadline<T>(request: FastifyRequest, work: Promise<T> | T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(deadlineExceeded()), Math.max(0, request.core.deadline - Date.now()));
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
