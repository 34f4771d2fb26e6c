import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

/** Result of one run. */
export interface RemindedTasks {
  /** Tasks for which reminders were made, because they are due or overdue. */
  readonly reminded: number;
}

/** Finds the tasks that are due tomorrow or today or are overdue, and announces each once. */
export const remindDueTasksContract = defineContract<MaintenanceInput>({
  name: 'remindDueTasks',
  queue: maintenanceQueue,
  workflowId: () => 'remind-due-tasks',
  schedule: { everyMs: 300_000 },
});
