import { defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { LifecycleActivities } from '#activities/integrations/lifecycle-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { actOnIntegrationContract, type ActOnIntegrationInput } from './act-on-integration.contract.ts';

export async function actOnIntegration({ queue, integrationId }: ActOnIntegrationInput): Promise<string> {
  // The row says what is to be done.
  setHandler(defineSignal(actOnIntegrationContract.wakeSignal ?? ''), () => {});
  const { actOnDueIntegration } = proxyActivities<LifecycleActivities>(activityOptions(queue));
  return actOnDueIntegration({ integrationId });
}
