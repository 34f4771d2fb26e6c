import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { LoopActivities } from '#activities/integrations/loops/loop-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { pageOptions } from './integrations-queue.ts';
import { loopPauses, loopSignals, type ReconcileIntegrationInput } from './reconcile-integration.contract.ts';

export const runNowSignal = defineSignal(loopSignals.runNow);
export const configChangedSignal = defineSignal(loopSignals.configChanged);
export const stopSignal = defineSignal(loopSignals.stop);

/** One round: the pause, one pass, and the next round as a new run. The loop ends when the integration does not want it any more. */
export async function reconcileIntegration(input: ReconcileIntegrationInput): Promise<void> {
  const { queue, integrationId, operation, pauseMs } = input;
  const { options, budgetMs } = pageOptions(queue);
  const { advanceLoop } = proxyActivities<LoopActivities>(options);
  const { giveUpRound } = proxyActivities<LoopActivities>(activityOptions(queue));
  let isDue = input.isDue ?? pauseMs === undefined;
  let isStopped = false;
  // Pauses that the loop has learned do not apply to other settings.
  let usualMs = pauseMs ?? loopPauses.minMs;
  let isChanged = false;
  let running: CancellationScope | undefined;
  setHandler(runNowSignal, () => {
    isDue = true;
  });
  setHandler(configChangedSignal, () => {
    isDue = true;
    isChanged = true;
    usualMs = loopPauses.minMs;
  });
  setHandler(stopSignal, () => {
    isStopped = true;
    running?.cancel();
  });

  if (!isDue) await condition(() => isDue || isStopped, pauseMs ?? loopPauses.minMs);
  // A signal during this round asks for another one, because this one has read some pages already.
  isDue = false;
  const loop = () => ({ integrationId, operation, pauseMs: usualMs });
  let nextMs: number | undefined;
  while (nextMs === undefined) {
    if (isStopped) {
      await giveUpRound({ ...loop(), isStopped });
      return;
    }
    // A pass that waits for places, or obeys pauses, for hours. It continues where it is.
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof reconcileIntegration>({ ...input, pauseMs: usualMs, isDue: true });
    isChanged = false;
    running = new CancellationScope();
    try {
      const round = await running.run(() => advanceLoop({ ...loop(), budgetMs }));
      if (round.status === 'ended') return;
      if (round.status === 'done') nextMs = round.pauseMs;
      else if (round.pauseMs > 0) await condition(() => isStopped || isChanged, round.pauseMs);
    } catch (error) {
      if (isCancellation(error) && isStopped) continue;
      if (isCancellation(error)) throw error;
      // The row has the reason, and the log of the worker the error.
      nextMs = await giveUpRound({ ...loop(), isStopped: false });
    } finally {
      running = undefined;
    }
  }
  await continueAsNew<typeof reconcileIntegration>({ ...input, pauseMs: isChanged ? usualMs : nextMs, isDue });
}
