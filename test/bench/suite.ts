import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Bench } from './row.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The whole suite, as `npm test` runs it. */
export const suite: Bench = {
  name: 'suite',
  run: async (say) => {
    const startedAt = performance.now();
    const child = spawn('npm', ['test'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let last = '';
    child.stdout.on('data', (chunk: Buffer) => {
      last = chunk.toString().trim().split('\n').at(-1) ?? last;
    });
    await new Promise((resolve) => child.once('close', resolve));
    say(last);
    return [
      {
        name: 'suite',
        unit: 's',
        ours: (performance.now() - startedAt) / 1_000,
        reference: null,
        ratio: null,
        spread: 0,
        note: `npm test: ${last}`,
      },
    ];
  },
};
