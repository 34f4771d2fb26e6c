import { workflowInfo } from '@temporalio/workflow';
import type { WorkflowContract } from './contract.ts';

/** The id of a workflow started from this one; the prefix of the installation is the one of our own task queue. */
export function childId<Input>(contract: WorkflowContract<Input>, input: Input): string {
  const [prefix] = workflowInfo().taskQueue.split('/', 1);
  return `${prefix}/${contract.workflowId(input)}`;
}
