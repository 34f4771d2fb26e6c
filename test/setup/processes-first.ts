import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What starts processes or servers, of which one start takes as long as most test files. */
const starters = /(?:kit\/processes\/[\w-]+|setup\/test-stack|\/stack-fixture)\.ts'/;

export function startsProcesses(file: string): boolean {
  return starters.test(readFileSync(file, 'utf8'));
}

/**
 * Long files first, so that none is left over at the end. How long files take is known from the last run; in a fresh clone their sizes
 * stand for it, and those that start processes are short files that take long.
 */
export class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    if (sorted.every((file) => this.ctx.cache.getTestSpecificationResult(file))) return sorted;
    const { first = [], others = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      startsProcesses(moduleId) ? 'first' : 'others',
    );
    return [...first, ...others];
  }
}
