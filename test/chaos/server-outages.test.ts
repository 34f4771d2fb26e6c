import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PartName } from '#temporal-dev/machine/stack-environment.ts';
import { asOwner } from '../kit/as-owner.ts';
import { EventSubscriber } from '../kit/events/event-subscriber.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { ProductProcesses } from '../kit/processes/product-processes.ts';
import { bearerOf } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';
import { prepareTestStack, type StartedTestStack } from '../setup/test-stack.ts';
import { expectExactlyOnce } from './recovery-checks.ts';
import type { TrafficOptions } from './patient-client.ts';
import { Visitors } from './traffic.ts';

// On servers of its own, which are really killed.

let stateDir: string;
let own: StartedTestStack;
let world: World;
let product: ProductProcesses;
beforeAll(async () => {
  stateDir = await realpath(await mkdtemp(join(tmpdir(), 'core-chaos-')));
  own = await prepareTestStack(stateDir, () => {});
  // Test servers answer before what they were told is out of their memory; these here are going to be killed.
  const anyDatabase = { databaseUrl: own.stack.postgresUrl.replace('DATABASE', 'postgres') };
  await asOwner(anyDatabase, 'alter role all set synchronous_commit = on');
  await own.servers.restart('openfga');
  world = await openWorld({ stack: own.stack, environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  product = await ProductProcesses.start(world, ['api/api-main.ts', 'worker/worker-main.ts']);
  await eventually(() => product.places.every(({ current }) => current.isServing));
});
afterAll(async () => {
  await product.close();
  await world.close();
  await own.servers.stop();
  await rm(stateDir, { recursive: true, force: true });
});

/** People visit while a server is killed, is away as long as `meanwhile` takes, and comes back. */
async function visitWithout(
  part: PartName,
  meanwhile: (traffic: Visitors) => Promise<unknown>,
  options: Pick<TrafficOptions, 'again'> = { again: [] },
): Promise<Visitors> {
  const traffic = await Visitors.of(world, { urls: () => product.apiUrls, ...options });
  const more = (count: number) => {
    const goal = traffic.count + count;
    return eventually(() => traffic.count >= goal);
  };
  const end = new AbortController();
  const flows = Promise.all([
    traffic.repeat(end.signal, () => traffic.signUp()),
    traffic.repeat(end.signal, () => traffic.createOrganization()),
    traffic.repeat(end.signal, () => traffic.beRefused()),
  ]);
  flows.catch(() => {});
  try {
    await more(20);
    await own.servers.kill(part);
    try {
      await meanwhile(traffic);
    } finally {
      await own.servers.restart(part);
    }
    await more(20);
  } finally {
    end.abort();
  }
  await flows;
  product.refuseCrashes();
  return traffic;
}

test('Temporal unavailable for ten seconds: no request fails, no event is lost', async () => {
  // The time it is away is what this is about.
  const traffic = await visitWithout('temporal', (visits) => {
    const before = visits.count;
    return Promise.all([pause(10_000), eventually(() => visits.count - before > 5)]);
  });
  expect(traffic.unanswered).toBe(0);
  await expectExactlyOnce(world, traffic);
});

/** Bodies that tell people to come again; the second is of GraphQL operations that were under way. */
const problems = new Set(['application/problem+json; charset=utf-8', 'application/json; charset=utf-8']);

test('PostgreSQL killed: requests get 503, and everything recovers without help', async () => {
  const traffic = await visitWithout('postgres', (visits) => eventually(() => visits.putOff.length > 20), {
    again: [503],
  });
  expect(traffic.unanswered).toBe(0);
  expect(traffic.putOff.filter((type) => !problems.has(type))).toEqual([]);
  await expectExactlyOnce(world, traffic);
});

test('PostgreSQL killed: whoever subscribes learns of every change once, without subscribing again', async () => {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  const { organization } = person;
  const subscriber = await EventSubscriber.open(
    product.apiUrls[0] ?? '',
    'subscription { recordChanged(kinds: [TASK]) { operation id } }',
    bearerOf(client),
  );
  await subscriber.next();
  let refused = 0;
  const create = async () => {
    const { status } = await client.post('/v1/tasks', { title: 'before, meanwhile or after' });
    if (status !== 201) refused++;
    return status === 201;
  };
  for (let index = 0; index < 10; index++) expect(await create()).toBe(true);
  const end = new AbortController();
  const writing = (async () => {
    while (!end.signal.aborted) await create();
  })();
  await own.servers.kill('postgres');
  await eventually(() => refused > 3);
  await own.servers.restart('postgres');
  const before = refused;
  await eventually(create);
  end.abort();
  await writing;
  for (let index = 0; index < 10; index++) await eventually(create);
  expect(before).toBeGreaterThan(3);

  // Also what was committed although its answer was lost.
  const rows = await asOwner<{ id: string }>(world, 'select id from tasks where organization_id = $1', [
    organization.id,
  ]);
  const told: string[] = [];
  while (told.length < rows.length) {
    const message = await subscriber.next();
    expect(message?.errors).toBeUndefined();
    const { operation, id } = message?.data.recordChanged ?? {};
    if (operation === 'CREATED') told.push(id);
  }
  subscriber.close();
  expect(told.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  product.refuseCrashes();
});

test('OpenFGA killed: no request fails, and permissions are applied when it is back', async () => {
  const traffic = await visitWithout('openfga', (visits) => {
    const goal = visits.count + 40;
    return eventually(() => visits.count >= goal);
  });
  expect(traffic.unanswered).toBe(0);
  await expectExactlyOnce(world, traffic);
});
