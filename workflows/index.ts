export { sendEmail } from './email/send-email.ts';
export { deliverEvent } from './events/deliver-event.ts';
export { deliverEvents } from './events/deliver-events.ts';
export { pruneRecords } from './maintenance/prune-records.ts';
export { reconcileAuthorization } from './maintenance/reconcile-authorization.ts';
export { sweepOutbox } from './maintenance/sweep-outbox.ts';
