import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { passedTests, printProof, proofOf, type Proof, type TestResult } from './proof.ts';
import { errorsOutsideTests } from './errors-outside-tests.ts';
import { isPartialRun } from './partial-run.ts';
import { fileOf, nameOf } from './test-names.ts';

const folder = join(process.cwd(), '.local');
const document = join(folder, 'proof.json');

/** What the last run of `npm run prove` has tried, also when it was cut off. */
export function lastProof(): Proof | undefined {
  return existsSync(document) ? (JSON.parse(readFileSync(document, 'utf8')) as Proof) : undefined;
}

/** Writes what a run of `npm run prove` has tried, as data and to be read, after each file. */
export class ProofReporter implements Reporter {
  #vitest: Vitest | undefined;
  #isWhole: boolean | undefined;
  readonly #startedAt = new Date();
  /** The run that this one continues, if any. */
  readonly #continued = process.env['PROVE_FROM'] ? lastProof() : undefined;
  readonly #tests = new Map<string, readonly TestResult[]>(
    Map.groupBy(this.#continued ? passedTests(this.#continued) : [], ({ file }) => file),
  );
  readonly #errors = new Map<string, readonly string[]>();
  readonly #unhandled: string[] = [];
  readonly #unsteady = new Set<string>(this.#continued?.unsteady);
  readonly #commits = [...new Set([...(this.#continued?.commits ?? []), currentCommit()])];

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    // A file that runs again is a part of the same run.
    if (this.#vitest) this.#isWhole ??= !(await isPartialRun(this.#vitest, specifications));
  }

  /** The run takes long; whoever waits for it learns at once why a test failed. */
  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state === 'failed') console.log([`failed: ${nameOf(test)}`, ...errors.map(textOf)].join('\n'));
  }

  onTestModuleEnd(module: TestModule): void {
    const file = fileOf(module);
    const tests = [...module.children.allTests()].map(resultOf);
    const errors = errorsOutsideTests(module).map(textOf);
    // Parts that were continued have passed.
    const hasRun = this.#errors.has(file);
    if (hasRun && errors.length === 0 && tests.every(({ state }) => state !== 'failed')) this.#unsteady.add(file);
    this.#tests.set(file, tests);
    this.#errors.set(file, errors);
    this.#write();
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly { message: string; stack?: string }[]): void {
    this.#unhandled.push(...unhandled.map(textOf));
    this.#write();
    console.log('report: .local/proof.md');
  }

  #write(): void {
    // A run without a test must not take the place of one that may be continued.
    if (this.#tests.size === 0) return;
    const { depth, seed, kinds } = this.#vitest?.getRootProject().getProvidedContext() ?? {};
    if (depth === undefined || seed === undefined) throw new Error('the run has no depth and no seed');
    const before = this.#continued;
    const proof = proofOf({
      depth,
      seed,
      startedAt: before?.startedAt ?? this.#startedAt.toISOString(),
      seconds: (before?.seconds ?? 0) + Math.round((Date.now() - this.#startedAt.getTime()) / 1_000),
      isWhole: this.#isWhole === true && kinds?.length === 0,
      tests: [...this.#tests.values()].flat(),
      errors: [
        ...[...this.#errors].flatMap(([file, errors]) => errors.map((error) => ({ file, error }))),
        ...this.#unhandled.map((error) => ({ error })),
      ],
      unsteady: [...this.#unsteady],
      commits: this.#commits,
    });
    mkdirSync(folder, { recursive: true });
    writeFileSync(document, `${JSON.stringify(proof, undefined, 2)}\n`);
    writeFileSync(join(folder, 'proof.md'), printProof(proof));
  }
}

function currentCommit(): string {
  return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], { encoding: 'utf8' }).trim();
}

function resultOf(test: TestCase): TestResult {
  const { state, errors = [] } = test.result();
  return {
    file: fileOf(test.module),
    title: test.fullName,
    state,
    seconds: (test.diagnostic()?.duration ?? 0) / 1_000,
    errors: errors.map(textOf),
    tried: test.meta().tried ?? {},
  };
}

function textOf({ message, stack }: { readonly message: string; readonly stack?: string }): string {
  return stack ?? message;
}
