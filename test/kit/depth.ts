import { inject } from 'vitest';
import { Random } from './random.ts';
import { coveringSample, type Coverage } from './sample-of.ts';

/** How much of a generated matrix is tried: a sample of it (`npm test`), or all of it (`npm run prove`). */
export type Depth = 'sample' | 'prove';

/** Of this run. */
export const depth: Depth = inject('depth');

/** Random numbers of one test, which follow from the seed of the run: `TEST_SEED` repeats them. */
export function seeded(name: string): Random {
  return new Random(seedOf(name));
}

/** A seed for what makes its own random numbers. */
export function seedOf(name: string): number {
  let hash = inject('seed');
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return hash;
}

/**
 * The items of a generated matrix that this run tries: all of them, or a random sample that touches every group.
 * @param name of the matrix; samples of different matrices are independent of each other
 */
export function sampleOf<T>(name: string, items: readonly T[], coverage: Coverage<T>): readonly T[] {
  return depth === 'prove' ? items : coveringSample(seeded(name), items, coverage);
}

/** How often something random is tried in this run. */
export function timesOf(times: Readonly<Record<Depth, number>>): number {
  return times[depth];
}
