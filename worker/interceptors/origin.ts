import type { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { EncryptingCodec } from '#activities/clients/payload-codec.ts';
import { originIn } from '#activities/clients/temporal.ts';
import { withOrigin } from '#activities/clients/work-origin.ts';
import { startSpan } from '#entities/kit/trace.ts';

/**
 * Runs each activity on behalf of the request that caused it: its span continues the request's trace, and workflows it
 * starts carry the request on. Failures are logged here once, with the ids to find them by.
 */
export function originInterceptor(logger: Logger, codec: EncryptingCodec): (context: Context) => ActivityInterceptors {
  return ({ info }) => {
    const inbound: ActivityInboundCallsInterceptor = {
      async execute(input, next) {
        const origin = await originIn(input.headers, codec);
        const workflow = info.workflowExecution;
        const span = startSpan(`activity ${info.activityType}`, {
          parent: origin?.traceparent,
          attributes: {
            'workflow.id': workflow?.workflowId ?? '',
            'activity.attempt': info.attempt,
            ...(origin ? { 'request.id': origin.requestId } : {}),
          },
        });
        try {
          const result = await (origin
            ? withOrigin({ ...origin, traceparent: span.traceparent }, () => next(input))
            : next(input));
          span.end();
          return result;
        } catch (error) {
          span.end(error);
          logger.warn(
            {
              err: error,
              activity: info.activityType,
              attempt: info.attempt,
              workflow_id: workflow?.workflowId,
              request_id: origin?.requestId,
            },
            'activity attempt failed',
          );
          throw error;
        }
      },
    };
    return { inbound };
  };
}
