import type { RunnerTestSuite } from 'vitest';
import { TestRunner } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Seconds of a processor that the process of the tests has used for this file, with loading and hooks, without servers and programs. */
    processorSeconds?: number;
  }
}

/** Runs tests as Vitest does, and notes what each file costs. One process runs one file after the other. */
export default class ProcessorTime extends TestRunner {
  static #until = 0;

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (!('filepath' in suite)) return;
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    suite.meta.processorSeconds = seconds - ProcessorTime.#until;
    ProcessorTime.#until = seconds;
  }
}
