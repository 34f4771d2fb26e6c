import { relative } from 'node:path';
import type { TestCase, TestModule } from 'vitest/node';

/** Path of a test file from the root of the repository. */
export function fileOf({ moduleId }: Pick<TestModule, 'moduleId'>): string {
  return relative(process.cwd(), moduleId);
}

/** File, then the titles down to the test. */
export function nameOf(test: TestCase): string {
  return `${fileOf(test.module)} > ${test.fullName}`;
}
