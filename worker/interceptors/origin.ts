import type { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { EncryptingCodec } from '#activities/clients/temporal/payload-codec.ts';
import { originIn } from '#activities/clients/temporal/temporal-client.ts';
import { withOrigin, withPlace } from '#activities/clients/temporal/work-origin.ts';
import { startSpan } from '#entities/kit/base/trace.ts';

/**
 * Runs each activity on behalf of the request that caused it: its span continues the request's trace, its statements and log
 * lines have the request id, and so have workflows it starts. An activity that no request caused, or several, has no trace; a
 * batch has a span for each delivery instead. Failures are logged here, once, with the ids to search for.
 */
export function originInterceptor(logger: Logger, codec: EncryptingCodec): (context: Context) => ActivityInterceptors {
  return ({ info }) => {
    const workflowId = info.workflowExecution?.workflowId ?? '';
    const logged = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        const { activityType: activity, attempt } = info;
        logger.warn({ err: error, activity, attempt, workflow_id: workflowId }, 'activity attempt failed');
        throw error;
      }
    };
    const inbound: ActivityInboundCallsInterceptor = {
      async execute(input, next) {
        const origin = await originIn(input.headers, codec);
        const place = { workflowId, ...organizationOf(input.args) };
        if (!origin) return withPlace(place, () => logged(() => next(input)));
        const span = startSpan(`activity ${info.activityType}`, {
          parent: origin.traceparent,
          attributes: {
            'workflow.id': workflowId,
            'activity.attempt': info.attempt,
            'request.id': origin.requestId,
          },
        });
        try {
          const result = await withOrigin({ ...origin, ...place, traceparent: span.traceparent }, () =>
            logged(() => next(input)),
          );
          span.end();
          return result;
        } catch (error) {
          span.end(error);
          throw error;
        }
      },
    };
    return { inbound };
  };
}

/** The organization that the input of an activity names. */
function organizationOf([input]: readonly unknown[]): { readonly organizationId?: string } {
  const { organizationId } = (input ?? {}) as { readonly organizationId?: unknown };
  return typeof organizationId === 'string' ? { organizationId } : {};
}
