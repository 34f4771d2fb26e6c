import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import type { OperatorReason, RestoreOutcome } from './restore-file.contract.ts';
import { storageQueue } from './transfer-options.ts';

/** Result for one object of many: also when another run restores it now, its workflow failed, or its provider is disabled. */
export type ChildOutcome = RestoreOutcome | 'running' | 'error';

export interface RestoredObject {
  readonly objectId: string;
  readonly outcome: ChildOutcome;
}

export interface RestoreReport {
  readonly examined: number;
  readonly counts: Readonly<Record<ChildOutcome, number>>;
  /** The first hundred that were not restored although they had to be. */
  readonly lost: readonly RestoredObject[];
}

export interface RestoreFilesInput {
  readonly queue: ActivityQueue;
  /** `missing`: objects that are not there or have another size; `all`: the bytes of every object are read and compared. */
  readonly which: 'missing' | 'all';
  readonly asked: OperatorReason;
  /** Pages after which a run continues as new, so that its history stays short. */
  readonly pagesPerRun?: number;
  /** Where the run before this one stopped. */
  readonly after?: string;
  readonly report?: RestoreReport;
}

/** Restores many objects. */
export const restoreFilesContract = defineContract<RestoreFilesInput>({
  name: 'restoreFiles',
  queue: storageQueue,
  workflowId: ({ which }) => `restore-files/${which}`,
});
