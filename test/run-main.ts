import { createVitest, parseCLI } from 'vitest/node';
import { testsOfWorkingTree } from './setup/changed-tests.ts';
import { ClosingReporter } from './setup/closing-reporter.ts';
import { lastProof } from './setup/proof-reporter.ts';
import { passedTests } from './setup/proof.ts';
import { matrixFiles } from './setup/matrix-files.ts';
import { runSeed } from './setup/run-seed.ts';

/**
 * Runs tests once and ends: `npm test`, `npm run prove`, `npm run histories`. In a run of the whole suite each file that failed runs once
 * more, alone, at the end: what then passes is unsteady, and named by the closing lines. `npm test -- --changed` (or `--changed=<commit>`)
 * runs the tests of what the working tree changes; `npm run prove -- --from` continues the last run of it.
 */
const args = process.argv.slice(2);
const isContinued = args.includes('--from');
const { filter, options } = parseCLI(['vitest', 'run', ...args.filter((arg) => arg !== '--from')]);
const { exclude = [], changed, ...rest } = options;
const excluded = [exclude].flat();
process.env['TEST_SEED'] ??= String(runSeed());
if (changed) {
  const { files, kinds, left } = testsOfWorkingTree(runSeed(), changed === true ? undefined : changed);
  if (files.length === 0) {
    console.log('no test belongs to what is changed: npm test runs all');
    process.exit(1);
  }
  console.log(
    [`${files.length} files of what is changed, ${left} others of the same areas left out:`, ...files].join('\n'),
  );
  filter.push(...files);
  if (kinds.length > 0) process.env['TEST_KINDS'] ??= kinds.join();
}
if (isContinued) {
  const proof = lastProof();
  if (!proof) throw new Error('no run of npm run prove is there to continue: leave --from out');
  const done = [...new Set(passedTests(proof).map(({ file }) => file))];
  console.log(`continues the run of ${proof.startedAt}, of which ${done.length} files have passed`);
  if (proof.isWhole && matrixFiles(process.cwd()).every((file) => done.includes(file))) {
    console.log('it is complete: .local/proof.md');
    process.exit();
  }
  excluded.push(...done);
  Object.assign(process.env, { TEST_SEED: String(proof.seed), PROVE_FROM: proof.startedAt });
}
// As the command of Vitest does both: what it tells the tests, and what a run excludes is added to what the configuration excludes.
Object.assign(process.env, { TEST: 'true', VITEST: 'true' });
process.env.NODE_ENV ??= 'test';
const vitest = await createVitest('test', {
  ...rest,
  watch: false,
  ...(excluded.length > 0 ? { cliExclude: excluded } : {}),
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
} catch (error) {
  // Vitest has said so itself when no file has the name that was asked for.
  if ((error as { code?: string }).code !== 'VITEST_FILES_NOT_FOUND') console.error(error);
  process.exitCode = 1;
} finally {
  // The servers of the run end with it.
  await vitest.close();
}
await vitest.exit();

function isClosing(reporter: unknown): reporter is ClosingReporter {
  return (reporter as object).constructor.name === ClosingReporter.name;
}
