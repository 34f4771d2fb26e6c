import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { JobMiddleware } from '#activities/clients/temporal/job.ts';

/** Runs the configured middleware around every attempt of an activity (`jobqueue.queueconf.WorkerMiddleware`, `Hooks`, …). */
export function middlewareInterceptor(middleware: JobMiddleware): (context: Context) => ActivityInterceptors {
  return ({ info }) => ({
    inbound: {
      execute: (input, next) =>
        middleware(
          {
            type: 'activity',
            name: info.activityType,
            queue: info.taskQueue,
            workflowId: info.workflowExecution?.workflowId ?? '',
            attempt: info.attempt,
          },
          () => next(input),
        ),
    },
  });
}
