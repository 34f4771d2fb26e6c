import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';

/**
 * Gives signs of life for every activity while it runs, so that one whose worker is gone is tried again after
 * `JobStuckThreshold` and not only after its whole timeout; a cancellation arrives the same way.
 */
export function heartbeatInterceptor(context: Context): ActivityInterceptors {
  const { heartbeatTimeoutMs, isLocal } = context.info;
  if (isLocal || !heartbeatTimeoutMs) return {};
  return {
    inbound: {
      async execute(input, next) {
        const beat = setInterval(() => context.heartbeat(), heartbeatTimeoutMs / 4);
        try {
          return await next(input);
        } finally {
          clearInterval(beat);
        }
      },
    },
  };
}
