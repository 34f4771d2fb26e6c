// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { announce, isSettled, notingListener } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { openWorld, type World } from '../kit/world.ts';

const listener = notingListener('refused-attributes', ['refused.happened']);
const namespace = `bare-${newId().toLowerCase()}`;
let world: World;
beforeAll(async () => {
  world = await openWorld({
    listeners: [listener],
    environment: { CORE_JOBQUEUE_CONNECTIONURI: `temporal://${inject('stack').temporalAddress}/${namespace}` },
  });
  // A namespace that somebody made without the search attributes.
  const { workflowService } = world.runtime.temporal.connection;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await eventually(() => workflowService.describeNamespace({ namespace }));
});
afterAll(() => world.close());

test('a batch whose search attributes Temporal refuses is delivered all the same, and the log says so', async () => {
  const worker = await eventually(() => world.startWorker());
  try {
    await announce(world, [{ topic: 'refused.happened' }]);
    await eventually(() => isSettled(world));
  } finally {
    await worker.stop();
  }
  expect(listener.seen).toHaveLength(1);
  expect(world.logs.some((line) => String(line['msg']).includes('refuses the search attributes'))).toBe(true);
});

test('with runmigrations off the start says what the namespace lacks', () => {
  const said = world.logs.map((line) => String(line['msg']));
  for (const name of ['OrganizationId', 'RequestId', 'EventTopic', 'EntityKind', 'EntityId'])
    expect(said.some((line) => line.includes(`${namespace} has no search attribute ${name}`))).toBe(true);
});
