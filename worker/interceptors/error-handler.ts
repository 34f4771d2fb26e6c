import { notifyOperator } from '#activities/events/notify-operator.ts';
import type { ActivityDependencies } from '#activities/kit/activity-dependencies.ts';
import type { placeOfWork } from '#activities/kit/work-kind.ts';
import { sendSystemMessageContract } from '#workflows/identity/send-system-message.contract.ts';

/** Called with an activity that has failed for good, and its error. */
export type ErrorHandler = (place: ReturnType<typeof placeOfWork>, error: string) => Promise<void>;

/** The handler that `jobqueue.queueconf.ErrorHandler` names. */
export function configuredErrorHandler(
  deps: Pick<ActivityDependencies, 'config' | 'database' | 'temporal' | 'logger'>,
): ErrorHandler {
  return async ({ workflowId, workflowType: workflow, activity }, error) => {
    const handler = deps.config.current.jobqueue.queueconf.ErrorHandler;
    if (handler === 'log')
      deps.logger.error({ workflow_id: workflowId, workflow, activity, error }, 'an activity has failed for good');
    // A message about a message that failed would fail like it.
    if (handler === 'chat' && workflow !== sendSystemMessageContract.name)
      await notifyOperator(deps, `${workflow}/${activity ?? ''}`, { message: 'work-failed', workflow });
  };
}
