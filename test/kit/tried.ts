import { TestRunner, type RunnerTestCase } from 'vitest';

/** How much of something a test tried. */
export interface Tried {
  readonly times: number;
  /** How much there is; as much as was tried where it is random, and has no end. */
  readonly of: number;
}

declare module 'vitest' {
  interface TaskMeta {
    tried?: Record<string, Tried>;
  }
}

/**
 * Notes what the running test has tried, for the report of `npm run prove`. Called again under the same name, it adds up.
 * @param of how much there is, where there is an end to it
 */
export function recordTried(what: string, times: number, of = times): void {
  const test = TestRunner.getCurrentTest<RunnerTestCase | undefined>();
  if (!test) throw new Error(`"${what}" was tried outside of a test`);
  const tried = (test.meta.tried ??= {});
  const before = tried[what];
  tried[what] = { times: (before?.times ?? 0) + times, of: (before?.of ?? 0) + of };
}
