import { session } from '#entities/identity/session.ts';
import { mirrorEndedSessionContract } from '#workflows/identity/mirror-ended-session.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/** Listens only while `auth.token.cache.enabled` is on. */
export const announceEndedSession = defineListener(
  'announce-ended-session',
  [on(session, 'deleted')],
  ({ event, start }) => {
    start(mirrorEndedSessionContract, { sessionId: event.entityId, endedAt: event.occurredAt.toISOString() });
  },
);
