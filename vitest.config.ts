import { defineConfig } from 'vitest/config';
import { ClosingReporter } from './test/setup/closing-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/global-setup.ts'],
    reporters: ['default', new ClosingReporter()],
    // Test files are kept apart by their own database, store, queues and ids, so they may share loaded modules.
    // Node runs the sources itself, as in production; nothing is transformed or resolved by another tool.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    isolate: false,
    // One more than the cores that are reckoned with: there is always one that waits for servers to start or to stop.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
