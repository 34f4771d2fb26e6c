import { configDefaults, defineConfig } from 'vitest/config';
import { ClosingReporter } from './test/setup/closing-reporter.ts';
import { testsOfLastChange } from './test/setup/changed-tests.ts';
import { leftOut } from './test/setup/left-out.ts';
import { ProcessesFirst } from './test/setup/processes-first.ts';
import { runKinds } from './test/setup/run-kinds.ts';
import { runSeed } from './test/setup/run-seed.ts';

const seed = runSeed();
const left = leftOut(seed, { changed: () => testsOfLastChange(seed) });

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...left],
    globalSetup: ['test/setup/global-setup.ts'],
    reporters: ['default', new ClosingReporter({ checksEffects: true, leftOut: left })],
    sequence: { sequencer: ProcessesFirst },
    provide: { depth: 'sample', seed, kinds: runKinds() },
    // Test files are kept apart by their own database, store, queues and ids, so they may share loaded modules.
    // Node runs the sources itself, as in production; nothing is transformed or resolved by another tool.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    runner: 'test/setup/processor-time.ts',
    pool: 'forks',
    // The modules of test files, and what they hold of their closed installations, stay until the process ends.
    execArgv: ['--max-old-space-size=5632'],
    isolate: false,
    // One more than the cores that are reckoned with: there is always one that waits for servers to start or to stop.
    maxWorkers: 3,
    // A test waits for a condition and says itself when it gives up. These only end what hangs.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
