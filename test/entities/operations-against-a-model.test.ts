import { expect, inject, test } from 'vitest';
import { seedOf, timesOf } from '../kit/depth.ts';
import { OracleSequence } from '../kit/oracle/oracle-sequence.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld } from '../kit/world.ts';

/** Operations of a sequence, and after how many of them all that is stored is compared. */
const operations = timesOf({ sample: 500, prove: 1_000 });
const every = 50;
const sequences = Array.from({ length: timesOf({ sample: 1, prove: 10 }) }, (_none, index) => index);

test.each(sequences)(
  'answers, rows, tuples and history of a random sequence of operations are those of a model of the rules (%i)',
  async (index) => {
    const world = await openWorld();
    try {
      const { changed, refused, comparisons } = await new OracleSequence(
        world,
        seedOf('operations against a model') + index,
      )
        .run(operations, every)
        .catch((error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          throw new Error(`TEST_SEED=${inject('seed')}, sequence ${index}: ${message}`, { cause: error });
        });
      recordTried('operations against a model', operations);
      recordTried('changes of a model', changed);
      recordTried('refusals by a model', refused);
      recordTried('comparisons with a model', comparisons);
      // Both were common, or little was compared.
      expect(Math.min(changed, refused)).toBeGreaterThan(operations / 10);
    } finally {
      await world.close();
    }
  },
);
