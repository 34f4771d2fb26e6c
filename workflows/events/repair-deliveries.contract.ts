import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { deliveryQueue } from './deliver-event.contract.ts';

/** Which deliveries are repaired. Omitted parts select all. Times are RFC 3339. */
export interface RepairSelection {
  readonly states: readonly ('failing' | 'held')[];
  readonly listener?: string;
  /** One topic, or all of a kind (`task.*`). */
  readonly topic?: string;
  readonly organizationId?: string;
  readonly requestId?: string;
  readonly eventIds?: readonly string[];
  readonly since?: string;
  /** Up to this instant. Events after the command are not repaired. */
  readonly until: string;
  /** Part of the error. */
  readonly error?: string;
}

/** Where a page of deliveries ended. */
export interface RepairPosition {
  readonly occurredAt: string;
  readonly eventId: string;
  readonly listener: string;
}

/** Deliveries of the selection that are alike. */
export interface RepairGroup {
  readonly status: string;
  readonly topic: string;
  readonly listener: string;
  readonly error: string | null;
  readonly count: number;
}

export interface RepairReport {
  /** Deliveries that the selection had at the beginning. */
  readonly selected: number;
  /** The largest groups of them. */
  readonly groups: readonly RepairGroup[];
  /** Deliveries that were retried or skipped. */
  readonly repaired: number;
  readonly isStopped: boolean;
}

export interface RepairDeliveriesInput {
  readonly queue: ActivityQueue;
  readonly repairId: string;
  readonly operation: 'retry' | 'skip';
  readonly selection: RepairSelection;
  readonly asked: { readonly operator: string; readonly reason: string };
  /** Counts the deliveries, and changes nothing. */
  readonly isDryRun: boolean;
  /** Most deliveries a second, from 1 on. */
  readonly perSecond: number;
  /** Pages after which a run continues as new, so that its history stays short. */
  readonly pagesPerRun?: number;
  /** Where the run before this one ended. */
  readonly after?: RepairPosition;
  readonly report?: RepairReport;
}

/** Retries or skips failing deliveries, one or many, as an operator has asked (`npm run events`). */
export const repairDeliveriesContract = defineContract<RepairDeliveriesInput>({
  name: 'repairDeliveries',
  queue: deliveryQueue,
  workflowId: repairWorkflowId,
});

/** Id of the workflow of a repair, without the prefix of the installation. */
export function repairWorkflowId({ repairId }: Pick<RepairDeliveriesInput, 'repairId'>): string {
  return `repair/${repairId}`;
}

/** Ends a repair after the page that is under way; what it has done stays. */
export const stopRepairSignal = 'stopRepair';

/** Answers with a `RepairReport`. */
export const repairProgressQuery = 'progress';
