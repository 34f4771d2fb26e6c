import { TestRunner, type RunnerTestCase } from 'vitest';
import type { ConfigPath } from '#config/objects/root.ts';

/** A leaf of the configuration whose effect a test shows. */
export interface ShownLeaf {
  readonly leaf: ConfigPath;
  /** Nothing outside `config/` reads it. */
  readonly isWithinConfig: boolean;
}

declare module 'vitest' {
  interface TaskMeta {
    shows?: readonly ShownLeaf[];
  }
}

/**
 * Says that the running test changes these leaves of the configuration and sees the difference from outside; code outside `config/` must
 * read them. The table of effects is collected from these calls, also without running them, so they are written with literals.
 */
export function shows(...leaves: readonly ConfigPath[]): void {
  note(leaves, false);
}

/** The same for leaves whose effect is within `config/`, so that nothing else reads them. */
export function showsWithinConfig(...leaves: readonly ConfigPath[]): void {
  note(leaves, true);
}

function note(leaves: readonly ConfigPath[], isWithinConfig: boolean): void {
  const test = TestRunner.getCurrentTest<RunnerTestCase | undefined>();
  if (!test) throw new Error(`${leaves.join(', ')}: shown outside of a test`);
  test.meta.shows = [...(test.meta.shows ?? []), ...leaves.map((leaf) => ({ leaf, isWithinConfig }))];
}
