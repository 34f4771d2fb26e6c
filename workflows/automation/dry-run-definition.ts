import { CancellationScope, continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { DryRunActivities } from '#activities/automation/dry-run-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { DryRunDefinitionInput } from './dry-run-definition.contract.ts';

/** Pages after which it continues as new. */
const maxPages = 500;

/** Looks at one page of changes after the other. The record keeps the position, so an attempt that is repeated loses nothing. */
export async function dryRunDefinition(input: DryRunDefinitionInput): Promise<void> {
  const { dryRunId } = input;
  const { tryPage, failDryRun } = proxyActivities<DryRunActivities>(activityOptions(input.queue));
  try {
    for (let page = 0; page < maxPages; page++) if (await tryPage({ dryRunId })) return;
  } catch {
    // The log of the worker has the error.
    await CancellationScope.nonCancellable(() => failDryRun({ dryRunId }));
    return;
  }
  await continueAsNew<typeof dryRunDefinition>(input);
}
