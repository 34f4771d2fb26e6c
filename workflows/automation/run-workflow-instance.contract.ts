import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface RunWorkflowInstanceInput {
  readonly queue: ActivityQueue;
  readonly instanceId: string;
  readonly organizationId: string;
  /** Definition and record in one line, for lists of workflows. */
  readonly summary?: string;
  /** Id of the request that caused the change. */
  readonly requestId?: string;
}

/** Facts about an instance that Temporal shows. */
export interface ShownInstance {
  readonly definitionId: string;
  readonly status: string;
  /** Actions, people who are asked and deadlines, as lines. */
  readonly details: string;
}

/** Result of a step of an instance. */
export interface InstanceStep {
  readonly shown?: ShownInstance;
  readonly isDone: boolean;
  /** Time until the next step, in milliseconds; null: somebody has to act first. */
  readonly waitMs: number | null;
}

/** Says that the next step may be possible now. */
export const wakeSignalName = 'wake';

/** Updates: somebody has acted, as rows say. They carry nothing, and return at once. */
export const instanceUpdates = ['decide', 'reassign', 'delegate', 'edit', 'forceComplete', 'cancel'] as const;
export type InstanceUpdate = (typeof instanceUpdates)[number];

/** Those after which the instance has ended: an action that fails is not tried again. */
export const endingUpdates: ReadonlySet<InstanceUpdate> = new Set(['forceComplete', 'cancel']);

/** An operator gives up an action that keeps failing. */
export const skipActionSignalName = 'skipAction';

/** Runs one instance of a workflow definition. Its rows say what was done and what comes next (entities/automation/workflow-instance.ts). */
export const runWorkflowInstanceContract = defineContract<RunWorkflowInstanceInput>({
  name: 'runWorkflowInstance',
  queue: 'automation',
  wakeSignal: wakeSignalName,
  workflowId: ({ instanceId }) => `workflow/${instanceId}`,
});
