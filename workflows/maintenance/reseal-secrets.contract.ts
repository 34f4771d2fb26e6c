import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

/** Which field comes next, by its place among all of them, and after which record. */
export interface ResealCursor {
  readonly place: number;
  readonly after: string;
}

/** Result for the values of one page. */
export interface ResealedSecrets {
  /** `<kind>.<field>`. */
  readonly field: string;
  readonly checked: number;
  readonly resealed: number;
  readonly unreadable: readonly string[];
  readonly next: ResealCursor | null;
}

export interface ResealReport {
  /** Values that were looked at. */
  readonly checked: number;
  /** Values that an earlier key had encrypted. */
  readonly resealed: number;
  /** Values that no configured key opens. */
  readonly unreadable: number;
  /** The first hundred of these: `<kind>.<field> <id>`. */
  readonly samples: readonly string[];
  /** Whether earlier keys can be removed from the configuration: every value opens with the newest one. */
  readonly isComplete: boolean;
}

export interface ResealInput extends MaintenanceInput {
  /** Pages after which a run continues as new, so that its history stays short. */
  readonly pagesPerRun?: number;
  /** Where the run before this one stopped. */
  readonly cursor?: ResealCursor;
  readonly report?: ResealReport;
}

/**
 * Encrypts with the newest key what earlier ones have encrypted. An operator who has rotated a key triggers the schedule; when the
 * report says that it is complete, the earlier key can go. Its query `progress` returns the report so far.
 */
export const resealSecretsContract = defineContract<ResealInput>({
  name: 'resealSecrets',
  queue: maintenanceQueue,
  workflowId: () => 'reseal-secrets',
  schedule: { every: 86_400_000 },
});
