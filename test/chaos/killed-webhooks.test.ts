import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { eventually } from '../kit/eventually.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import type { TestClient } from '../kit/test-client.ts';
import { recordTried } from '../kit/tried.ts';
import { createdEndpoint } from '../kit/events/created-endpoint.ts';
import { openWorld, type World } from '../kit/world.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

/** Where the worker dies, one life after the other, with the passes that it survives. */
const deaths: readonly (readonly [Failpoint, number])[] = [
  ['webhook-claimed', 0],
  ['webhook-sent', 1],
  ['webhook-settled', 2],
];

let world: World;
let client: TestClient;
let product: ProductProcesses;
let sink: WebhookSink;
beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } });
  client = await signedIn(world, await buildPerson(world));
  sink = await WebhookSink.open();
  product = await ProductProcesses.start(world, [worker], {
    [worker]: deaths.map(([name, passes]) => ({ FAILPOINTS: `${name}=kill@${passes}` })),
  });
});
afterAll(async () => {
  await product.close();
  await sink.close();
  await world.close();
});

test('killed before, while and after it sends: every message arrives, in the order of its record, under one id', async () => {
  const endpoint = await createdEndpoint(client, sink);
  const { id } = (await client.post('/v1/tasks', { title: 'version 1' })).body;
  for (let version = 2; version <= 6; version++)
    await client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: `version ${version}` } });
  // Each life ends an attempt, whose message is due again after its lease.
  const [place] = product.places;
  await place?.untilFirstLivesEnded();
  await eventually(async () => (await client.get(`${endpoint.path}/messages?status=delivered`)).body.data.length === 6);
  const seen = new Map<string, number>();
  for (const { headers, body } of sink.received)
    seen.set(String(headers['webhook-id']), JSON.parse(body).data.version as number);
  // What arrived a second time is left out, as a receiver does.
  expect([...seen.values()]).toEqual([1, 2, 3, 4, 5, 6]);
  product.refuseCrashes();
  recordTried('kills while messages are sent', place?.deaths ?? 0);
});
