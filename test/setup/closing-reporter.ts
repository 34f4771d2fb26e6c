import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, TestRunEndReason, TestSpecification, Vitest } from 'vitest/node';
import { checkEffects } from '../config/check-effects.ts';
import { effects } from '../config/effects.ts';
import { configReadsFile } from '../kit/config-reads-file.ts';
import { isPartialRun } from './partial-run.ts';
import { fileOf, nameOf } from './test-names.ts';

export interface ClosingReporterOptions {
  /** Whether the run has every test by which a configuration field shows its effect. */
  readonly checksEffects: boolean;
  /** Files that other seeds and `npm run prove` run. */
  readonly leftOut?: readonly string[];
}

/** How many files are named for their time. */
const slowest = 10;
/** How many characters of the reason of a failure are repeated at the end: several must fit into what is kept of a log. */
const longestReason = 500;

/**
 * Closes a run: what was skipped and why, the slowest files, what failed, whether every configuration field has the effect it claims, the
 * seed, and last the counts in one line.
 */
export class ClosingReporter implements Reporter {
  readonly #options: ClosingReporterOptions;
  #vitest: Vitest | undefined;
  /** Only some files or names were asked for. */
  #isPartial = true;

  constructor(options: ClosingReporterOptions = { checksEffects: true }) {
    this.#options = options;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    if (this.#vitest) this.#isPartial = await isPartialRun(this.#vitest, specifications);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[], reason: TestRunEndReason): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const skipped = inState('skipped');
    const passed = inState('passed');
    const problems: string[] = [];

    for (const test of skipped) {
      const note = noteOf(test);
      console.log(`skipped: ${nameOf(test)}: ${note ?? 'no reason given'}`);
      // A filter on names skips without a reason, and means it.
      if (!note && !this.#isPartial)
        problems.push(`${nameOf(test)} is skipped without a reason: call context.skip('why')`);
    }
    const brokenModules = modules.filter(
      (module) => module.state() === 'failed' && [...module.children.allTests('failed')].length === 0,
    );
    if (this.#options.checksEffects && !this.#isPartial && reason === 'passed') {
      problems.push(...checkEffects(effects, { ran: new Set(passed.map(nameOf)), read: this.#configReads() }));
    }
    for (const line of slowestFiles(modules)) console.log(line);
    for (const file of this.#options.leftOut ?? []) console.log(`left to other seeds and to npm run prove: ${file}`);
    for (const module of brokenModules) console.log(`failed: ${fileOf(module)}: it cannot be loaded`);
    for (const test of inState('failed')) for (const line of failureOf(test)) console.log(line);
    for (const problem of problems) console.log(`suite: ${problem}`);
    const { seed } = this.#vitest?.getRootProject().getProvidedContext() ?? {};
    console.log(`seed: ${seed}; TEST_SEED=${seed} repeats the samples of this run`);
    const failed = inState('failed').length + brokenModules.length + problems.length + unhandled.length;
    if (failed > 0) process.exitCode = 1;
    console.log(`${passed.length} passed, ${failed} failed, ${skipped.length} skipped`);
  }

  #configReads(): Set<string> {
    // Not there when the stack did not come up; then no test ran either.
    const folder = this.#vitest?.getRootProject().getProvidedContext().stack?.folder;
    const file = folder === undefined ? '' : join(folder, configReadsFile);
    return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  }
}

/** What failed and why, in short: the whole message is far above, and a log may hold only its end. */
function failureOf(test: TestCase): string[] {
  const { errors = [] } = test.result();
  return errors.map(({ message, diff }) => {
    const reason = stripVTControlCharacters([message, diff].filter(Boolean).join('\n'));
    return `failed: ${nameOf(test)}: ${reason.length > longestReason ? `${reason.slice(0, longestReason)}…` : reason}`;
  });
}

/** With loading, hooks and tests. */
function slowestFiles(modules: readonly TestModule[]): string[] {
  return modules
    .map((module) => {
      const { collectDuration, duration } = module.diagnostic();
      return { file: fileOf(module), seconds: (collectDuration + duration) / 1_000 };
    })
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, slowest)
    .map(({ file, seconds }) => `slowest: ${seconds.toFixed(1).padStart(6)} s ${file}`);
}

function noteOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === 'skipped' ? result.note : undefined;
}
