import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { printProof, proofOf } from './proof.ts';
import { isPartialRun } from './partial-run.ts';
import { fileOf, nameOf } from './test-names.ts';

/** Writes what a run of `npm run prove` has tried, as data and to be read. */
export class ProofReporter implements Reporter {
  #vitest: Vitest | undefined;
  #isWhole = false;
  #startedAt = new Date();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    this.#startedAt = new Date();
    this.#isWhole = this.#vitest !== undefined && !(await isPartialRun(this.#vitest, specifications));
  }

  /** The run goes on for long; whoever waits for it learns at once why a test failed. */
  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state === 'failed') console.log([`failed: ${nameOf(test)}`, ...errors.map(textOf)].join('\n'));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string; stack?: string }[]): void {
    const { depth, seed } = this.#vitest?.getRootProject().getProvidedContext() ?? {};
    if (depth === undefined || seed === undefined) throw new Error('the run has no depth and no seed');
    const proof = proofOf({
      depth,
      seed,
      startedAt: this.#startedAt.toISOString(),
      seconds: Math.round((Date.now() - this.#startedAt.getTime()) / 1_000),
      isWhole: this.#isWhole,
      tests: modules.flatMap((module) =>
        [...module.children.allTests()].map((test) => {
          const { state, errors = [] } = test.result();
          return {
            file: fileOf(module),
            title: test.fullName,
            state,
            seconds: (test.diagnostic()?.duration ?? 0) / 1_000,
            errors: errors.map(textOf),
            tried: test.meta().tried ?? {},
          };
        }),
      ),
      errors: [
        ...modules.flatMap((module) =>
          [module, ...module.children.allSuites()]
            .flatMap((suite) => suite.errors())
            .map((error) => `${fileOf(module)}: ${textOf(error)}`),
        ),
        ...unhandled.map(textOf),
      ],
    });
    const folder = join(process.cwd(), '.local');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'proof.json'), `${JSON.stringify(proof, undefined, 2)}\n`);
    writeFileSync(join(folder, 'proof.md'), printProof(proof));
    console.log('report: .local/proof.md');
  }
}

function textOf({ message, stack }: { readonly message: string; readonly stack?: string }): string {
  return stack ?? message;
}
