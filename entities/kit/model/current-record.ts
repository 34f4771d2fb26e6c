import type { EntityModule } from './define.ts';

/** Field of the records of `isSessionKind`. It is stored nowhere: it depends on who asks. */
export const currentField = {
  name: 'isCurrent',
  description: 'Whether this is the session of the request. Deleting it signs the caller out; false for tokens.',
} as const;

/** Whether the records of a kind are sessions, one of which may be that of the request. */
export function isSessionKind({ confinedReach, historyOf }: EntityModule): boolean {
  return confinedReach === 'session' && !historyOf;
}
