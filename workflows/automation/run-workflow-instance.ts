import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { AutomationActivities } from '#activities/automation/automation-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { searchPairs } from '../kit/search-pairs.ts';
import {
  endingUpdates,
  instanceUpdates,
  skipActionSignalName,
  wakeSignalName,
  type InstanceStep,
  type RunWorkflowInstanceInput,
  type ShownInstance,
} from './run-workflow-instance.contract.ts';

export const wakeSignal = defineSignal(wakeSignalName);
export const skipActionSignal = defineSignal(skipActionSignalName);

/** Steps after which it continues as new, so that long instances pick up new code. */
const maxSteps = 200;

/**
 * Asks for one step after the other, and sleeps between them until a deadline or until somebody has acted. An update or a signal that comes
 * during a step causes another one, because the step may have read before what it reports. A step that fails is tried again until it succeeds,
 * somebody ends the instance, or an operator skips its action.
 */
export async function runWorkflowInstance(input: RunWorkflowInstanceInput): Promise<void> {
  const { queue, instanceId, organizationId, requestId } = input;
  const options = activityOptions(queue);
  const { stepInstance, skipAction } = proxyActivities<AutomationActivities>({
    ...options,
    // The people who can repair what fails may need days.
    retry: { ...options.retry, maximumAttempts: Infinity, maximumInterval: '5 minutes' },
  });
  const instance = { instanceId, organizationId, ...(requestId === undefined ? {} : { requestId }) };
  let isWoken = false;
  let isToSkip = false;
  let isInterrupted = false;
  let running: CancellationScope | undefined;
  const interrupt = () => {
    isInterrupted = true;
    running?.cancel();
  };
  setHandler(wakeSignal, () => {
    isWoken = true;
  });
  setHandler(skipActionSignal, () => {
    isToSkip = true;
    interrupt();
  });
  for (const name of instanceUpdates)
    setHandler(defineUpdate(name), () => {
      isWoken = true;
      if (endingUpdates.has(name)) interrupt();
    });

  const step = async (): Promise<InstanceStep> => {
    running = new CancellationScope();
    isInterrupted = false;
    try {
      return await running.run(() => stepInstance(instance));
    } catch (error) {
      if (!isCancellation(error) || !isInterrupted) throw error;
      return { isDone: false, waitMs: 0 };
    } finally {
      running = undefined;
    }
  };
  let shown: ShownInstance | undefined;
  const show = (current: ShownInstance): void => {
    const { definitionId, status, details } = current;
    if (status !== shown?.status)
      upsertSearchAttributes(searchPairs({ WorkflowDefinitionId: definitionId, WorkflowState: status }));
    setCurrentDetails(details);
    shown = current;
  };
  for (let steps = 0; steps < maxSteps && !workflowInfo().continueAsNewSuggested; steps++) {
    isWoken = false;
    const result = await step();
    if (result.shown) show(result.shown);
    if (result.isDone) return;
    const { waitMs } = result;
    if (isToSkip) {
      isToSkip = false;
      await skipAction(instance);
    } else if (waitMs !== 0 && !isWoken) {
      const isAwake = () => isWoken || isToSkip;
      await (waitMs === null ? condition(isAwake) : condition(isAwake, waitMs));
    }
  }
  await continueAsNew<typeof runWorkflowInstance>(input);
}
