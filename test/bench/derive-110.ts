import { BenchProcess } from './bench-process.ts';
import { median, spreadOf, type Bench } from './row.ts';

const rounds = 5;

interface Derived {
  readonly tookMs: number;
  readonly megabytes: number;
  readonly kinds: number;
  readonly types: number;
}

/** From 110 definitions to a registry, ORM schemas and a GraphQL schema, each time in a new process. */
export const derive110: Bench = {
  name: 'derive-110',
  run: async (say) => {
    const derived: Derived[] = [];
    for (let round = 0; round < rounds; round++) {
      const child = new BenchProcess('test/bench/derive-process.ts', { NODE_OPTIONS: '--expose-gc' });
      derived.push(await child.next<Derived>());
      await child.stop();
      say(`round ${round + 1}: ${derived.at(-1)?.tookMs.toFixed(1)} ms`);
    }
    const times = derived.map(({ tookMs }) => tookMs);
    const megabytes = median(derived.map((each) => each.megabytes));
    return [
      {
        name: 'derive-110',
        unit: 'ms',
        ours: median(times),
        reference: null,
        ratio: null,
        spread: spreadOf(times),
        note: `${derived[0]?.kinds} kinds (110 besides the product's) to registry, ORM schemas and GraphQL schema (${derived[0]?.types} types), ${megabytes.toFixed(1)} MB kept`,
      },
    ];
  },
};
