import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';
import { ClosingReporter } from './closing-reporter.ts';
import { matrixFiles } from './matrix-files.ts';
import { ProofReporter } from './proof-reporter.ts';

const hoursMs = 6 * 3_600_000;

/** `npm run prove`: the generated matrices whole, as long as that takes. */
export default defineConfig({
  ...suite,
  test: {
    ...suite.test,
    include: matrixFiles(process.cwd()),
    provide: { ...suite.test?.provide, depth: 'prove' },
    // Many of these files start processes of their own, and one of them occupies a machine: several at once wait for each other.
    maxWorkers: 1,
    reporters: ['default', new ProofReporter(), new ClosingReporter({ checksEffects: false })],
    testTimeout: hoursMs,
    hookTimeout: hoursMs,
  },
});
