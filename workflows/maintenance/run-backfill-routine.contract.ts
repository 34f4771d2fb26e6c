import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

export interface BackfillVersion {
  /** Name of the backfill. */
  readonly routine: string;
  readonly version: number;
}

/** Progress of a backfill; also the answer to the query `progress`. */
export interface BackfillProgress {
  /** `stopped`: the configuration does not want it now. */
  readonly status: 'running' | 'completed' | 'stopped';
  readonly examined: number;
  readonly changed: number;
  readonly failed: number;
}

export interface BackfillInput extends BackfillVersion, MaintenanceInput {
  /** Slices after which a run continues as new, so that its history stays short. */
  readonly slicesPerRun?: number;
}

/** Does the pages of one backfill. */
export const runBackfillRoutineContract = defineContract<BackfillInput>({
  name: 'runBackfillRoutine',
  queue: maintenanceQueue,
  workflowId: ({ routine, version }) => `backfill/${routine}/${version}`,
  priority: () => 5,
});
