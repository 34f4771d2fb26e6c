import { defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { ConnectionsActivities } from '#activities/integrations/connections-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { disconnectSignalName, type DisconnectIntegrationInput } from './disconnect-integration.contract.ts';

/** Attempts to end a credential at the other system, which may be gone. */
const revocationAttempts = 3;

export async function disconnectIntegration({ queue, integrationId }: DisconnectIntegrationInput): Promise<void> {
  // The row says what is to be done.
  setHandler(defineSignal(disconnectSignalName), () => {});
  const options = activityOptions(queue);
  const { revokeCredential } = proxyActivities<ConnectionsActivities>({
    ...options,
    retry: { ...options.retry, maximumAttempts: revocationAttempts },
  });
  const { removeConnection, stopLoops } = proxyActivities<ConnectionsActivities>(options);
  await stopLoops({ integrationId });
  try {
    await revokeCredential({ integrationId });
  } catch {
    // The activity has logged why. The credential is deleted here all the same.
  }
  while (!(await removeConnection({ integrationId }))) {
    // Each attempt removes some of the records.
  }
}
