import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { integrationsQueue } from './integrations-queue.ts';

export interface ReconcileIntegrationInput {
  readonly queue: ActivityQueue;
  readonly integrationId: string;
  /** Name of the operation. */
  readonly operation: string;
  readonly organizationId: string;
  /** Pause before the next round, in milliseconds; absent: it begins at once, and no round was before it. */
  readonly pauseMs?: number;
  /** Somebody has asked for a round during the last one. */
  readonly isDue?: boolean;
}

/**
 * `runNow`: the next round begins. `configChanged`: the same, but also a pass that pauses looks at the settings of the integration again, and
 * the pause after it is as short as that of a new loop, because other records may come in. `stop`: the loop ends.
 */
export const loopSignals = { runNow: 'runNow', configChanged: 'configChanged', stop: 'stop' } as const;

/** Shortest and longest pause between two rounds, in milliseconds. */
export const loopPauses = { minMs: 20 * 60_000, maxMs: 24 * 3_600_000 } as const;

/** Repeats an operation of a connected integration, the less often the less it finds. */
export const reconcileIntegrationContract = defineContract<ReconcileIntegrationInput>({
  name: 'reconcileIntegration',
  queue: integrationsQueue,
  wakeSignal: loopSignals.runNow,
  workflowId: ({ integrationId, operation }) => `integration-loop/${integrationId}/${operation}`,
});
