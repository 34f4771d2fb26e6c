import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { searchAttributes } from '#workflows/kit/search-attributes.ts';
import { shows } from '../kit/shows.ts';
import { openWorld, removeSchedules, type World } from '../kit/world.ts';

const hourMs = 3_600_000;

let world: World;
let uri: string;
beforeAll(async () => {
  world = await openWorld();
  uri = `temporal://${inject('stack').temporalAddress}/own-${world.name}`;
});
afterAll(() => world.close());

/** Lets a worker begin in the namespace; what it keeps ended workflows for, in hours. */
async function retentionAfter(periods: Readonly<Record<string, number>>): Promise<number> {
  const settings = Object.entries(periods).map(([name, hours]) => [
    `CORE_JOBQUEUE_QUEUECONF_${name}JOBRETENTIONPERIOD`,
    String(hours * hourMs),
  ]);
  const instance = await world.openInstance({
    environment: {
      ...(Object.fromEntries(settings) as Record<string, string>),
      CORE_JOBQUEUE_CONNECTIONURI: uri,
      CORE_JOBQUEUE_RUNMIGRATIONS: 'true',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
    },
  });
  const worker = await instance.startWorker();
  const { temporal } = instance.runtime;
  const { namespace } = temporal.settings;
  const { config } = await temporal.connection.workflowService.describeNamespace({ namespace });
  await removeSchedules(world.name, instance.runtime);
  await worker.stop();
  return Number(config?.workflowExecutionRetentionTtl?.seconds) / 3_600;
}

test('without runmigrations a start says what is missing and how to mend it', async () => {
  const instance = await world.openInstance({ environment: { CORE_JOBQUEUE_CONNECTIONURI: uri } });
  await expect(instance.startWorker()).rejects.toThrow();
  const lines = world.logs.map((line) => String(line['msg']));
  expect(lines).toContainEqual(expect.stringMatching(/no namespace own-.+ turn on jobqueue\.runmigrations/u));
});

test('with runmigrations the namespace of connectionuri is made, with its search attributes', async () => {
  shows('jobqueue.connectionuri', 'jobqueue.runmigrations');
  await retentionAfter({});
  const instance = await world.openInstance({ environment: { CORE_JOBQUEUE_CONNECTIONURI: uri } });
  const { connection, settings } = instance.runtime.temporal;
  expect(settings.namespace).toBe(`own-${world.name}`);
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: settings.namespace });
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(searchAttributes)));
});

test('the namespace keeps ended workflows for the longest of the three periods, and follows when they change', async () => {
  shows(
    'jobqueue.queueconf.CancelledJobRetentionPeriod',
    'jobqueue.queueconf.CompletedJobRetentionPeriod',
    'jobqueue.queueconf.DiscardedJobRetentionPeriod',
  );
  expect(await retentionAfter({ COMPLETED: 50, CANCELLED: 2, DISCARDED: 3 })).toBe(50);
  expect(await retentionAfter({ COMPLETED: 2, CANCELLED: 60, DISCARDED: 3 })).toBe(60);
  expect(await retentionAfter({ COMPLETED: 2, CANCELLED: 3, DISCARDED: 40 })).toBe(40);
});
