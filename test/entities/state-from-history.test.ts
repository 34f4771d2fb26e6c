import { expect, inject, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import { RandomWorkload } from '../kit/records/random-workload.ts';
import { statesByHistory, TableRecorder } from '../kit/records/recorded-states.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld } from '../kit/world.ts';

/** Every kind is created in each of as many rounds as there are kinds. */
const rounds = registry.modules.length * timesOf({ sample: 1, prove: 12 });
const moments = timesOf({ sample: 100, prove: 1_000 });
/** Kinds of which each sort of change was made; few rounds make some sorts of few. */
const kindsOfEachSort = timesOf({ sample: 0, prove: 3 });
/** Differences that a failure shows. */
const maxShown = 10;

test('the state of every record at random moments, rebuilt from history, is what the table held then', async () => {
  const random = seeded('state from history');
  const world = await openWorld({ hasRandomValues: true });
  try {
    const workload = await RandomWorkload.begin(world, random);
    const tables = new TableRecorder(world);
    const begin = world.clock.now().getTime();
    await tables.note(world.clock.now());
    for (let round = 0; round < rounds; round++) {
      world.clock.advance(1 + random.below(10_000));
      await workload.round();
      await tables.note(world.clock.now());
    }
    const rebuilt = await statesByHistory(world);
    const differences: string[] = [];
    let compared = 0;
    const end = world.clock.now().getTime();
    for (let count = 0; count < moments; count++) {
      const moment = new Date(begin + random.below(end - begin + 1));
      const [held, told] = [tables.states.at(moment), rebuilt.at(moment)];
      compared += held.size;
      for (const record of new Set([...held.keys(), ...told.keys()]))
        if (held.get(record) !== told.get(record))
          differences.push(
            `${record} at ${moment.toISOString()}\n  held    ${held.get(record) ?? 'nothing'}\n  rebuilt ${told.get(record) ?? 'nothing'}`,
          );
    }
    const shown = differences.slice(0, maxShown).join('\n');
    expect(differences.length, `TEST_SEED=${inject('seed')}:\n${shown}`).toBe(0);
    recordTried('random moments', moments);
    recordTried('states rebuilt from history', compared);
    recordTried(
      'changes of records of all kinds',
      [...workload.made.values()].reduce((sum, made) => sum + made, 0),
    );
    const kinds = new Set(tables.states.records.map((record) => record.split(' ')[0]));
    expect(registry.modules.filter(({ kind }) => !kinds.has(kind)).map(({ kind }) => kind)).toEqual([]);
    // Of each of these there was something to rebuild.
    for (const sort of ['update', 'update twice', 'update many', 'remove', 'remove many'])
      expect([...workload.made.keys()].filter((key) => key.endsWith(` ${sort}`)).length, sort).toBeGreaterThanOrEqual(
        kindsOfEachSort,
      );
  } finally {
    await world.close();
  }
});
