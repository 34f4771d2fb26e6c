import { defineContract } from '../kit/contract.ts';
import type { MaintenanceInput } from './sweep-outbox.contract.ts';

/** Where a reconciliation is: what it compares, and behind which item it goes on. */
export type ReconciliationPlace =
  /** Live rows of a kind with the tuples that are desired. */
  | { readonly step: 'rows'; readonly kind: string; readonly after: string }
  /** Desired tuples with the rows they come from. */
  | { readonly step: 'desired'; readonly after: ReconciledTuple | null }
  /** Desired tuples with those of the store. */
  | { readonly step: 'settled'; readonly after: ReconciledTuple | null }
  /** Tuples of the store with those that are desired; behind is a place of the store's own. */
  | { readonly step: 'store'; readonly after: string | null };

export interface ReconciledTuple {
  readonly object: string;
  readonly relation: string;
  readonly subject: string;
}

/** What was wrong with a tuple. */
export type Disagreement =
  /** A live row stands for it, but it was not desired. */
  | 'notDesired'
  /** It was desired, but no live row stands for it. */
  | 'unfounded'
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
  /** Pages after which a run hands over to the next one, so that its history stays short; a thousand when left out. */
  readonly pagesPerRun?: number;
  /** Where a run goes on that the one before it has handed over. */
  readonly place?: ReconciliationPlace;
  readonly report?: ReconciliationReport;
}

/**
 * Compares rows, desired tuples and the authorization store, and repairs what disagrees; runs every day. An operator starts
 * it by triggering the schedule.
 */
export const reconcileAuthorizationContract = defineContract<ReconcileInput>({
  name: 'reconcileAuthorization',
  workflowId: () => 'reconcile-authorization',
});
