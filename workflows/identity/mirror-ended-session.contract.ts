import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface MirrorEndedSessionInput {
  readonly queue: ActivityQueue;
  readonly sessionId: string;
  /** RFC 3339. */
  readonly endedAt: string;
}

/** Reports to other services, through the cache of `auth.token.cache`, that the tokens of a session stopped working. */
export const mirrorEndedSessionContract = defineContract<MirrorEndedSessionInput>({
  name: 'mirrorEndedSession',
  queue: 'maintenance',
  workflowId: ({ sessionId }) => `ended-session/${sessionId}`,
});
