import type { Profile } from './launch-postgres.ts';

/**
 * The environment variables of a server that is written in Go.
 * Tests have more memory than processor time: their servers collect garbage when the heap is five times of what is in use (Go: twice).
 */
export function goEnvironment(profile: Profile): Record<string, string> {
  return { PATH: '/usr/bin:/bin', ...(profile === 'test' ? { GOGC: '400' } : {}) };
}
