import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { ProvidedContext } from 'vitest';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { printCosts } from './folder-costs.ts';
import { checkEffects, effectiveLeaves, writtenLeaves } from '../config/effects.ts';
import { configReadsFile } from '../kit/config-reads-file.ts';
import { errorsOutsideTests } from './errors-outside-tests.ts';
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
 * Closes a run: what was skipped and why, the slowest files, what was unsteady, what failed, whether every configuration field has the
 * effect it claims, the seed, and last the counts in one line.
 */
export class ClosingReporter implements Reporter {
  readonly #options: ClosingReporterOptions;
  #vitest: Vitest | undefined;
  /** Only some files or names were asked for. */
  #isPartial: boolean | undefined;
  /** What the run gives its tests. Vitest forgets it when the run has ended. */
  #provided: Partial<ProvidedContext> = {};
  /** Each file as it ended last. */
  readonly #modules = new Map<string, TestModule>();
  readonly #unhandled: { readonly message: string }[] = [];
  /** Why files failed that have passed when they ran again. */
  readonly #unsteady: string[] = [];

  constructor(options: ClosingReporterOptions = { checksEffects: true }) {
    this.#options = options;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    // What runs again is a part of the same run.
    if (this.#vitest) this.#isPartial ??= await isPartialRun(this.#vitest, specifications);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { readonly message: string }[]): void {
    this.#provided = { ...this.#vitest?.getRootProject().getProvidedContext() };
    for (const module of modules) {
      const before = this.#modules.get(module.moduleId);
      if (before?.state() === 'failed' && module.ok()) this.#unsteady.push(...failuresOf(before));
      this.#modules.set(module.moduleId, module);
    }
    this.#unhandled.push(...unhandled);
  }

  /** The files that have failed so far; none where only a part of the suite was asked for: whoever asks for it waits for its answer. */
  get failedFiles(): readonly TestModule[] {
    if (this.#isPartial !== false) return [];
    return [...this.#modules.values()].filter((module) => module.state() === 'failed');
  }

  /** Prints the closing lines. The exit code follows from them. */
  close(): void {
    if (this.#isPartial === undefined) return;
    const modules = [...this.#modules.values()];
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
    const failures = modules.flatMap(failuresOf);
    if (this.#options.checksEffects && !this.#isPartial && failures.length + this.#unhandled.length === 0) {
      const left = new Set(this.#options.leftOut);
      problems.push(
        ...checkEffects(effectiveLeaves(), {
          shown: passed.flatMap((test) => test.meta().shows ?? []),
          leftOut: writtenLeaves().flatMap(({ file, leaf }) => (left.has(file) ? [leaf] : [])),
          read: left.size > 0 ? undefined : this.#configReads(),
        }),
      );
    }
    for (const line of slowestFiles(modules)) console.log(line);
    if (!this.#isPartial && this.#options.checksEffects) printCosts(modules);
    for (const file of this.#options.leftOut ?? []) console.log(`left to other seeds and to npm run prove: ${file}`);
    for (const line of this.#unsteady) console.log(`unsteady (it passed when it ran again, alone): ${line}`);
    for (const line of failures) console.log(`failed: ${line}`);
    for (const error of this.#unhandled) console.log(`failed outside of tests: ${reasonOf(error)}`);
    for (const problem of problems) console.log(`suite: ${problem}`);
    const { seed } = this.#provided;
    console.log(`seed: ${seed}; TEST_SEED=${seed} repeats the samples of this run`);
    const failed = failures.length + problems.length + this.#unhandled.length;
    if (failed > 0) process.exitCode = 1;
    // Vitest has set it when the files failed for the first time.
    else if (this.#unsteady.length > 0) process.exitCode = 0;
    console.log(`${passed.length} passed, ${failed} failed, ${skipped.length} skipped`);
  }

  #configReads(): Set<string> {
    // Not there when the stack did not come up; then no test ran either.
    const { folder } = this.#provided.stack ?? {};
    const file = folder === undefined ? '' : join(folder, configReadsFile);
    return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  }
}

/**
 * What failed in a file and why, a line for each test and each error of loading and hooks, in short: the whole message is far above, and a
 * log may hold only its end.
 */
function failuresOf(module: TestModule): string[] {
  const outside = errorsOutsideTests(module).map((error) => `${fileOf(module)}: ${reasonOf(error)}`);
  const failed = [...module.children.allTests('failed')].map(
    (test) => `${nameOf(test)}: ${reasonOf(test.result().errors?.[0])}`,
  );
  const all = [...outside, ...failed];
  return module.state() === 'failed' && all.length === 0 ? [`${fileOf(module)}: no reason given`] : all;
}

function reasonOf(error?: { readonly message: string; readonly diff?: string }): string {
  const reason = stripVTControlCharacters([error?.message, error?.diff].filter(Boolean).join('\n'));
  return reason.length > longestReason ? `${reason.slice(0, longestReason)}…` : reason;
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
