import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { printProof, proofOf } from './proof.ts';
import { isPartialRun } from './partial-run.ts';
import { fileOf } from './test-names.ts';

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

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string; stack?: string }[]): void {
    const { depth, seed } = this.#vitest?.getRootProject().getProvidedContext() ?? {};
    if (depth === undefined || seed === undefined) throw new Error('the run has no depth and no seed');
    const text = ({ message, stack }: { message: string; stack?: string }) => stack ?? message;
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
            errors: errors.map(text),
            tried: test.meta().tried ?? {},
          };
        }),
      ),
      errors: [
        ...modules.flatMap((module) => module.errors().map((error) => `${fileOf(module)}: ${text(error)}`)),
        ...unhandled.map(text),
      ],
    });
    const folder = join(process.cwd(), '.local');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'proof.json'), `${JSON.stringify(proof, undefined, 2)}\n`);
    writeFileSync(join(folder, 'proof.md'), printProof(proof));
    console.log('report: .local/proof.md');
  }
}
