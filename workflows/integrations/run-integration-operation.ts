import {
  CancellationScope,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunActivities } from '#activities/integrations/runs/run-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { pageOptions } from './integrations-queue.ts';
import { wakeSignalName, type RunIntegrationOperationInput } from './run-integration-operation.contract.ts';

export const wakeSignal = defineSignal(wakeSignalName);

/** Calls after which it continues as new. */
const maxCalls = 200;

/** Advances a run until it has ended or waits for a person. A wake interrupts a pause, because the row may say that the run is cancelled. */
export async function runIntegrationOperation(input: RunIntegrationOperationInput): Promise<void> {
  const { queue, runId } = input;
  const { options, budgetMs } = pageOptions(queue);
  const { advanceIntegrationRun } = proxyActivities<RunActivities>(options);
  const { failIntegrationRun } = proxyActivities<RunActivities>(activityOptions(queue));
  let running: CancellationScope | undefined;
  let isInterrupted = false;
  setHandler(wakeSignal, () => {
    isInterrupted = running !== undefined;
    running?.cancel();
  });
  const advance = async (): Promise<boolean> => {
    isInterrupted = false;
    running = new CancellationScope();
    try {
      return await running.run(async () => {
        const { isDone, pauseMs } = await advanceIntegrationRun({ runId, budgetMs });
        if (!isDone && pauseMs > 0) await sleep(pauseMs);
        return isDone;
      });
    } catch (error) {
      if (!isCancellation(error) || !isInterrupted) throw error;
      return false;
    } finally {
      running = undefined;
    }
  };
  try {
    for (let calls = 0; calls < maxCalls && !workflowInfo().continueAsNewSuggested; calls++)
      if (await advance()) return;
  } catch {
    // The row has the reason, and the log of the worker the error.
    await CancellationScope.nonCancellable(() => failIntegrationRun({ runId }));
    return;
  }
  await continueAsNew<typeof runIntegrationOperation>(input);
}
