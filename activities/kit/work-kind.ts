import type { WorkKind, WorkPlace } from '#entities/kit/outbox/failing-work.ts';

/** Kinds of the workflows of an installation; those of schedules are of the kind `schedule`. */
export const kindsOfWorkflows: Readonly<Record<string, WorkKind>> = {
  actOnIntegration: 'other',
  admitByDomain: 'organization',
  auditStorage: 'file',
  backupFile: 'file',
  checkUpload: 'file',
  deleteAnnounced: 'organization',
  deliverEvent: 'delivery',
  deliverEvents: 'delivery',
  deliverToEndpoint: 'message',
  disconnectIntegration: 'other',
  dryRunDefinition: 'other',
  exportRecords: 'export',
  importRecords: 'import',
  mirrorEndedSession: 'other',
  probeListener: 'delivery',
  provisionDirectory: 'other',
  reconcileAuthorization: 'other',
  reconcileEntitlements: 'organization',
  reconcileIntegration: 'other',
  releaseAddress: 'email',
  removeFiles: 'file',
  removeOrganization: 'organization',
  repairDeliveries: 'delivery',
  resealSecrets: 'other',
  restoreFile: 'file',
  restoreFiles: 'file',
  restoreOrganization: 'organization',
  runBackfill: 'other',
  runBackfillRoutine: 'other',
  runIntegrationOperation: 'other',
  runWorkflowInstance: 'other',
  sendEmail: 'email',
  sendSystemMessage: 'notification',
  setUpOrganization: 'organization',
};

/** Temporal adds the time to the id of a run that a schedule starts. */
const ofSchedule = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

export function isScheduled(workflowId: string): boolean {
  return ofSchedule.test(workflowId);
}

/** @param activity its type; null for the workflow itself */
export function placeOfWork(
  { workflowId, runId, workflowType }: Pick<WorkPlace, 'workflowId' | 'runId' | 'workflowType'>,
  activity: string | null,
): WorkPlace {
  const kind = isScheduled(workflowId) ? 'schedule' : (kindsOfWorkflows[workflowType] ?? 'other');
  const key = `${workflowId.replace(ofSchedule, '')}/${activity ?? ''}`;
  return { kind, key, workflowId, runId, workflowType, activity };
}
