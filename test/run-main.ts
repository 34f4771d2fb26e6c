import { createVitest, parseCLI } from 'vitest/node';
import { ClosingReporter } from './setup/closing-reporter.ts';

/**
 * Runs tests once and ends: `npm test`, `npm run prove`, `npm run histories`. In a run of the whole suite each file that failed runs once
 * more, alone, at the end: what then passes is unsteady, and named by the closing lines.
 */
const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const { exclude, ...rest } = options;
// As the command of Vitest does both: what it tells the tests, and what a run excludes is added to what the configuration excludes.
Object.assign(process.env, { TEST: 'true', VITEST: 'true' });
process.env.NODE_ENV ??= 'test';
const vitest = await createVitest('test', {
  ...rest,
  watch: false,
  ...(exclude ? { cliExclude: [exclude].flat() } : {}),
});

/** Where more files fail, something is broken. */
const mostUnsteady = 3;

try {
  await vitest.start(filter);
  // Vitest loads its configuration apart from this program: its classes are others of the same name.
  const closing = [vitest.config.reporters].flat(2).find(isClosing);
  const failed = closing?.failedFiles ?? [];
  if (failed.length <= mostUnsteady) {
    for (const module of failed) await vitest.runTestSpecifications([module.toTestSpecification()]);
  }
  closing?.close();
} finally {
  // The servers of the run end with it.
  await vitest.close();
}
await vitest.exit();

function isClosing(reporter: unknown): reporter is ClosingReporter {
  return (reporter as object).constructor.name === ClosingReporter.name;
}
