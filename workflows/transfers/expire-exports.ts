import { proxyActivities } from '@temporalio/workflow';
import type { TransfersActivities } from '#activities/transfers/transfers-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { ExpireExportsInput } from './expire-exports.contract.ts';

/** A run makes few attempts, because the schedule starts the next one soon. */
export async function expireExports({ queue }: ExpireExportsInput): Promise<number> {
  const { expireExports: run } = proxyActivities<TransfersActivities>({
    ...activityOptions(queue),
    retry: { maximumAttempts: 3 },
  });
  return run();
}
