import type { TestSpecification, Vitest } from 'vitest/node';

/** Whether only some files or names were asked for, or the run goes on and on. */
export async function isPartialRun(vitest: Vitest, specifications: readonly TestSpecification[]): Promise<boolean> {
  const { watch, testNamePattern } = vitest.config;
  if (watch || testNamePattern !== undefined) return true;
  return specifications.length < (await vitest.globTestSpecifications()).length;
}
