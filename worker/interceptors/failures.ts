import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import { isAppError, isRefusal } from '#entities/kit/base/errors.ts';
import { isProgrammingError } from '#entities/kit/base/programming-error.ts';

/**
 * The one translation from our errors to failures of Temporal: the code becomes the failure's type, and refusals and
 * programming errors are not tried again, whatever the retry policy says. Messages of unexpected errors may hold data and stay in the log.
 */
export function failureInterceptor(): ActivityInterceptors {
  const inbound: ActivityInboundCallsInterceptor = {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error;
        if (isAppError(error))
          throw ApplicationFailure.create({
            message: error.message,
            type: error.code,
            nonRetryable: isRefusal(error),
          });
        const name = error instanceof Error ? error.name : 'error';
        throw ApplicationFailure.create({
          message: `unexpected ${name}; see the log of the worker`,
          type: 'internal',
          nonRetryable: isProgrammingError(error),
        });
      }
    },
  };
  return { inbound };
}
