import type { ActivityQueue } from './activity-queue.ts';

/** Task queue of what an installation does regularly for itself. */
export const maintenanceQueue = 'maintenance';

export interface MaintenanceInput {
  readonly queue: ActivityQueue;
}
