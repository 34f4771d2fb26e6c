import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import type { MirrorEndedSessionInput } from '#workflows/identity/mirror-ended-session.contract.ts';

export type SessionsActivities = ReturnType<typeof createSessionsActivities>;

export const createSessionsActivities = defineActivities(
  ({ config, database, endedSessions }: Pick<ActivityDependencies, 'config' | 'database' | 'endedSessions'>) => ({
    /** Idempotent: the same key gets the same value. @returns `expired` when no token of the session can be valid any more */
    async writeEndedSession({ sessionId, endedAt }: MirrorEndedSessionInput): Promise<'mirrored' | 'expired' | 'off'> {
      // Turned off since the session ended.
      if (!endedSessions) return 'off';
      // A session lasts refreshduration from its last tokens, and they were given before it ended.
      const { refreshduration } = config.current.auth.token;
      const remainingMs = Date.parse(endedAt) + refreshduration - database.options.clock.now().getTime();
      if (remainingMs <= 0) return 'expired';
      await endedSessions.add(sessionId, remainingMs);
      return 'mirrored';
    },
  }),
);
