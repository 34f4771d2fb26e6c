import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureStart } from './measured-start.ts';
import type { Bench } from './row.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A clone of the last commit with an empty home and empty caches: packages, servers and the build of OpenFGA. */
export const startCold: Bench = {
  name: 'start-cold',
  isLong: true,
  run: async (say) => {
    const base = await mkdtemp(join(tmpdir(), 'core-bench-cold-'));
    const home = join(base, 'home');
    await mkdir(home);
    const clone = join(base, 'clone');
    execFileSync('git', ['clone', '--quiet', root, clone]);
    // Without the programs of this checkout, which npm adds: a new machine has its own Node.
    const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.startsWith(root));
    const environment = { HOME: home, PATH: path.join(delimiter), TERM: 'dumb', LANG: 'C.UTF-8' };
    try {
      const cold = await measureStart(clone, environment, 1_800_000);
      say(`ready after ${Math.round(cold.readyMs / 1_000)} s`);
      const warm = await measureStart(clone, environment, 120_000);
      return [
        {
          name: 'start-cold',
          unit: 'ms',
          ours: cold.readyMs,
          reference: warm.readyMs,
          ratio: warm.readyMs / cold.readyMs,
          spread: 0,
          note: 'npm start in a fresh clone, empty caches; reference: the second start there',
        },
      ];
    } finally {
      await rm(base, { recursive: true, force: true });
    }
  },
};
