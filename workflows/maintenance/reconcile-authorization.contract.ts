import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

/** How far a reconciliation is: what it compares next, and after which item. */
export type ReconciliationCursor =
  /** Live rows of a kind with the tuples that are desired. */
  | { readonly step: 'rows'; readonly kind: string; readonly after: string }
  /** Desired tuples with the rows they come from. */
  | { readonly step: 'desired'; readonly after: ReconciledTuple | null }
  /** Desired tuples with those of the store. */
  | { readonly step: 'settled'; readonly after: ReconciledTuple | null }
  /** Tuples of the store with those that are desired; `after` is the store's continuation token. */
  | { readonly step: 'store'; readonly after: string | null };

export interface ReconciledTuple {
  readonly object: string;
  readonly relation: string;
  readonly subject: string;
}

/** Problem of a tuple. */
export type Disagreement =
  /** A live row grants it, but it was not desired. */
  | 'notDesired'
  /** It was desired, but no live row grants it. */
  | 'orphaned'
  /** It is desired, but the store did not have it. */
  | 'notStored'
  /** The store had it, but it is not desired. */
  | 'onlyStored';

export interface ReconciliationReport {
  readonly checked: { readonly rows: number; readonly desired: number; readonly stored: number };
  /** The first hundred that were repaired. */
  readonly repaired: readonly { readonly tuple: string; readonly was: Disagreement }[];
  readonly counts: Readonly<Record<Disagreement, number>>;
}

export interface ReconcileInput extends MaintenanceInput {
  /** Pages after which a run continues as new, so that its history stays short; a thousand when left out. */
  readonly pagesPerRun?: number;
  /** Where the run before this one stopped. */
  readonly cursor?: ReconciliationCursor;
  readonly report?: ReconciliationReport;
}

/**
 * Compares rows, desired tuples and the authorization store, and repairs the differences. An operator starts it by triggering
 * the schedule.
 */
export const reconcileAuthorizationContract = defineContract<ReconcileInput>({
  name: 'reconcileAuthorization',
  queue: maintenanceQueue,
  workflowId: () => 'reconcile-authorization',
  schedule: { every: '0 2 * * *' },
});
