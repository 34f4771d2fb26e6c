import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { passedTests, printProof, proofOf, type Proof, type TestResult } from './proof.ts';
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
  #isWhole = false;
  #startedAt = new Date();
  /** The run that this one continues, if any. */
  readonly #continued = process.env['PROVE_FROM'] ? lastProof() : undefined;
  readonly #tests = new Map<string, readonly TestResult[]>(
    Map.groupBy(this.#continued ? passedTests(this.#continued) : [], ({ file }) => file),
  );
  readonly #errors = new Map<string, readonly string[]>();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    this.#startedAt = new Date();
    this.#isWhole = this.#vitest !== undefined && !(await isPartialRun(this.#vitest, specifications));
  }

  /** The run takes long; whoever waits for it learns at once why a test failed. */
  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state === 'failed') console.log([`failed: ${nameOf(test)}`, ...errors.map(textOf)].join('\n'));
  }

  onTestModuleEnd(module: TestModule): void {
    const file = fileOf(module);
    this.#tests.set(file, [...module.children.allTests()].map(resultOf));
    const suites = [module, ...module.children.allSuites()];
    this.#errors.set(
      file,
      suites.flatMap((suite) => suite.errors()).map((error) => `${file}: ${textOf(error)}`),
    );
    this.#write([]);
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly { message: string; stack?: string }[]): void {
    this.#write(unhandled.map(textOf));
    console.log('report: .local/proof.md');
  }

  #write(unhandled: readonly string[]): void {
    // A run without a test must not take the place of one that may be continued.
    if (this.#tests.size === 0) return;
    const { depth, seed } = this.#vitest?.getRootProject().getProvidedContext() ?? {};
    if (depth === undefined || seed === undefined) throw new Error('the run has no depth and no seed');
    const before = this.#continued;
    const proof = proofOf({
      depth,
      seed,
      startedAt: before?.startedAt ?? this.#startedAt.toISOString(),
      seconds: (before?.seconds ?? 0) + Math.round((Date.now() - this.#startedAt.getTime()) / 1_000),
      isWhole: this.#isWhole,
      tests: [...this.#tests.values()].flat(),
      errors: [...this.#errors.values(), unhandled].flat(),
    });
    mkdirSync(folder, { recursive: true });
    writeFileSync(document, `${JSON.stringify(proof, undefined, 2)}\n`);
    writeFileSync(join(folder, 'proof.md'), printProof(proof));
  }
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
