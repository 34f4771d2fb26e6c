import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface DryRunDefinitionInput {
  readonly queue: ActivityQueue;
  readonly dryRunId: string;
}

/** Tries a workflow definition over past changes. The record of the dry run says how far it is (entities/automation/workflow-dry-run.ts). */
export const dryRunDefinitionContract = defineContract<DryRunDefinitionInput>({
  name: 'dryRunDefinition',
  queue: 'automation',
  workflowId: ({ dryRunId }) => `dry-run/${dryRunId}`,
});
