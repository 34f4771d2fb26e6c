import { workflowInfo } from '@temporalio/workflow';
import type { StartInput, WorkflowContract } from './contract.ts';

/** The id of a workflow started from this one. The prefix of the installation is taken from this workflow's task queue. */
export function childId<Input>(contract: WorkflowContract<Input>, input: StartInput<Input>): string {
  const [prefix] = workflowInfo().taskQueue.split('/', 1);
  return `${prefix}/${contract.workflowId(input)}`;
}
