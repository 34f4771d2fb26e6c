import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';

/**
 * Sends heartbeats for every activity while it runs. An activity whose worker is gone is then tried again after
 * `JobStuckThreshold`, not only after its whole timeout; heartbeats also bring cancellations.
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
