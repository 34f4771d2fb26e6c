import { sendEmailContract } from './email/send-email.contract.ts';
import { deliverEventContract } from './events/deliver-event.contract.ts';
import { deliverEventsContract } from './events/deliver-events.contract.ts';
import { pruneRecordsContract } from './maintenance/prune-records.contract.ts';
import { reconcileAuthorizationContract } from './maintenance/reconcile-authorization.contract.ts';
import { sweepOutboxContract } from './maintenance/sweep-outbox.contract.ts';

/** Every workflow type of this release. */
export const workflowTypes: readonly string[] = [
  sendEmailContract.name,
  deliverEventContract.name,
  deliverEventsContract.name,
  pruneRecordsContract.name,
  reconcileAuthorizationContract.name,
  sweepOutboxContract.name,
];
