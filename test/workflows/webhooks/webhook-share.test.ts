import { afterAll, beforeAll, expect, test } from 'vitest';
import { createdEndpoint } from '../../kit/events/created-endpoint.ts';
import { eventually } from '../../kit/eventually.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      // One organization can occupy two of them.
      CORE_JOBQUEUE_QUEUECONF_QUEUES: JSON.stringify({ webhooks: { MaxWorkers: 8 } }),
    },
  });
});
afterAll(() => world.close());

test('endpoints of one organization that all hang leave workers to others, and each of them gets its turn', async () => {
  const [slow, quick] = [await WebhookSink.open(), await WebhookSink.open()];
  try {
    const client = await signedIn(world, await buildPerson(world));
    const paths = new Set<string>();
    for (let index = 0; index < 12; index++) {
      const path = `/hook/${index}`;
      paths.add(path);
      await createdEndpoint(client, slow, { url: slow.url.replace('/hook', path) });
    }
    slow.answer = () => ({ status: 200, hangs: true });
    const stranger = await signedIn(world, await buildPerson(world));
    await createdEndpoint(stranger, quick);
    await client.post('/v1/tasks', { title: 'for endpoints that hang' });
    await eventually(() => slow.received.length >= 2);
    for (let count = 1; count <= 5; count++) {
      await stranger.post('/v1/tasks', { title: 'for one that answers' });
      await eventually(() => quick.received.length >= count);
    }
    expect(slow.mostAtOnce).toBeLessThanOrEqual(2);
    // They answer from now on; nobody waits for those that were first.
    slow.answer = () => ({ status: 200 });
    await eventually(() => new Set(slow.received.map(({ path }) => path)).size === paths.size);
    expect(slow.mostAtOnce).toBeLessThanOrEqual(2);
  } finally {
    await Promise.all([slow.close(), quick.close()]);
  }
});
