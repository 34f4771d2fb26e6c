import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStack } from '#temporal-dev/stack/start-stack.ts';
import { measureStart } from './measured-start.ts';
import { median, spreadOf, type Bench } from './row.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rounds = 3;

/** `npm start` with everything installed, against starting only its servers. */
export const startWarm: Bench = {
  name: 'start-warm',
  run: async (say) => {
    const stateDir = await mkdtemp(join(tmpdir(), 'core-bench-'));
    const environment = { ...(process.env as Record<string, string>), STACK_STATE_DIR: stateDir };
    try {
      // The first start initialises the data; it is not a warm one.
      await measureStart(root, environment, 600_000);
      const ours: number[] = [];
      const floor: number[] = [];
      const memory: Record<string, number[]> = {};
      for (let round = 0; round < rounds; round++) {
        const startedAt = performance.now();
        const stack = await startStack({ stateDir, profile: 'development', report: () => {} });
        floor.push(performance.now() - startedAt);
        await stack.stop();
        const start = await measureStart(root, environment, 120_000);
        say(`ready after ${Math.round(start.readyMs)} ms, stopped after ${Math.round(start.stopMs)} ms`);
        ours.push(start.readyMs);
        for (const [name, megabytes] of Object.entries(start.memoryMb)) (memory[name] ??= []).push(megabytes);
      }
      return [
        {
          name: 'start-warm',
          unit: 'ms',
          ours: median(ours),
          reference: median(floor),
          ratio: median(floor) / median(ours),
          spread: spreadOf(ours),
          note: 'npm start to ready; reference: its servers alone',
        },
        ...Object.entries(memory).map(([name, values]) => ({
          name: `idle-memory-${name}`,
          unit: 'MB',
          ours: median(values),
          reference: null,
          ratio: null,
          spread: spreadOf(values),
          note: 'resident, ten seconds after ready',
        })),
      ];
    } finally {
      await rm(stateDir, { recursive: true, force: true });
    }
  },
};
