import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import type { RestoredObject } from './restore-files.contract.ts';
import { storageQueue } from './transfer-options.ts';

/** A bucket that rows name. */
export interface AuditedPlace {
  readonly provider: string;
  readonly bucket: string;
  readonly region: string;
  /** Whether it has objects, and not only copies. */
  readonly hasObjects: boolean;
}

export interface AuditReport {
  /** Rows that name a key, and keys that were listed. */
  readonly rows: number;
  readonly listed: number;
  /** Objects that were not there, or had another size. */
  readonly missing: number;
  readonly restored: number;
  /** The first hundred that are missing and were not restored. */
  readonly lost: readonly RestoredObject[];
  /** Verified copies that were not there; they are made again. */
  readonly missingCopies: number;
  /** Objects of the listing that no row names. They are never deleted. */
  readonly unknown: number;
  /** The first hundred of them. */
  readonly unknownKeys: readonly string[];
  /** Places that could not be listed, with the reason. */
  readonly unreachable: readonly string[];
}

export interface AuditStorageInput {
  readonly queue: ActivityQueue;
  /** Pages after which a run continues as new, so that its history stays short. */
  readonly pagesPerRun?: number;
  /** Where the run before this one stopped: the places that are left, and the last key of the first of them. */
  readonly places?: readonly AuditedPlace[];
  readonly after?: string;
  readonly report?: AuditReport;
}

/** Compares rows with listings of the providers. An operator starts it by triggering the schedule, or with `npm run files -- audit`. */
export const auditStorageContract = defineContract<AuditStorageInput>({
  name: 'auditStorage',
  queue: storageQueue,
  workflowId: () => 'audit-storage',
  schedule: { every: 7 * 86_400_000 },
});
