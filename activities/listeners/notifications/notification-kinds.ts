import type { NotificationKind } from './define-notification.ts';
import { endpointDisabled, endpointFailing } from './endpoint-failing.ts';
import { exportFailed, exportReady } from './export-finished.ts';
import { joinDecided, joinRequested } from './group-joins.ts';
import { mentionedInNote, mentionedInTask } from './mentioned.ts';
import { organizationReady } from './organization-ready.ts';
import { taskAssigned } from './task-assigned.ts';
import { tasksDue } from './task-due.ts';

/** All kinds of notifications. */
export const notificationKinds: readonly NotificationKind[] = [
  taskAssigned,
  ...tasksDue,
  mentionedInTask,
  mentionedInNote,
  exportReady,
  exportFailed,
  organizationReady,
  endpointFailing,
  endpointDisabled,
  joinRequested,
  joinDecided,
];
