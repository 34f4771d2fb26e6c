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
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
