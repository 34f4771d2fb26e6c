import { continueAsNew, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ProvisioningActivities } from '#activities/integrations/provisioning/provisioning-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { provisionSignalName, type ProvisionDirectoryInput } from './provision-directory.contract.ts';

export async function provisionDirectory(input: ProvisionDirectoryInput): Promise<void> {
  const { queue, integrationId } = input;
  let isAsked = true;
  setHandler(defineSignal(provisionSignalName), () => {
    isAsked = true;
  });
  const { endMemberships, provisionAccounts } = proxyActivities<ProvisioningActivities>(activityOptions(queue));
  while (isAsked) {
    isAsked = false;
    for (const some of [endMemberships, provisionAccounts]) {
      // An activity returns null for undefined.
      let after: string | null | undefined = '';
      while (typeof after === 'string') after = await some({ integrationId, after });
    }
    if (isAsked && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof provisionDirectory>(input);
  }
}
