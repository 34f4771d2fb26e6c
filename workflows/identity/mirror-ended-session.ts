import { proxyActivities } from '@temporalio/workflow';
import type { SessionsActivities } from '#activities/identity/sessions-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { MirrorEndedSessionInput } from './mirror-ended-session.contract.ts';

/** Waits for a cache that cannot be reached until the tokens of the session would have expired anyway. */
export async function mirrorEndedSession(input: MirrorEndedSessionInput): Promise<'mirrored' | 'expired' | 'off'> {
  const { writeEndedSession } = proxyActivities<SessionsActivities>({
    ...activityOptions(input.queue),
    // The longest refreshduration is 30 days; the activity ends by itself when the tokens have expired.
    scheduleToCloseTimeout: '31 days',
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  });
  return writeEndedSession(input);
}
