import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { transferQueue } from './transfer-input.ts';

export interface ExpireExportsInput {
  readonly queue: ActivityQueue;
}

/** Removes documents of exports that have expired, and what cancelled exports have left. */
export const expireExportsContract = defineContract<ExpireExportsInput>({
  name: 'expireExports',
  queue: transferQueue,
  workflowId: () => 'expire-exports',
  schedule: { everyMs: 3_600_000 },
});
