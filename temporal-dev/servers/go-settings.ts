import type { Profile } from './launch-postgres.ts';

/**
 * Environment variables of the run time of a server that is written in Go.
 * Tests have more memory than processor time: their servers collect garbage when the heap is five times of what is in use (Go: twice).
 */
export function goSettings(profile: Profile): Record<string, string> {
  return profile === 'test' ? { GOGC: '400' } : {};
}
