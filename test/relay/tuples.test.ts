// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, assert, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { membership, organization } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import { asOwner } from '../kit/as-owner.ts';
import { OpenfgaProxy } from '../kit/fakes/openfga-proxy.ts';
import { timesOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { shows } from '../kit/shows.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

let fga: OpenfgaProxy;
let world: World;
beforeAll(async () => {
  fga = await OpenfgaProxy.start(inject('stack').openfgaUrl);
  // The sweep comes when a test calls it.
  world = await openWorld({
    worker: true,
    environment: { CORE_AUTHZ_HOSTURL: fga.url, CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' },
  });
});
beforeEach(async () => {
  // A test that failed may have left writes held, and the store unasked for a moment.
  fga.beforeWrite = async () => {};
  await eventually(async () => (await world.runtime.store?.check(aTuple).catch(() => undefined)) !== undefined);
  fga.writes.length = 0;
});
afterAll(async () => {
  await world.close();
  await fga.close();
});

const aTuple = { object: `organization:${newId()}`, relation: 'owner', subject: `user:${newId()}` };
const tupleOf = ({ user, organization }: Person, relation = 'owner') => ({
  object: `organization:${organization.id}`,
  relation,
  subject: `user:${user.id}`,
});
const isGranted = (person: Person, relation?: string) => world.runtime.store?.check(tupleOf(person, relation));
const relayOf = ({ tuples }: CoreRuntime) => tuples as NonNullable<typeof tuples>;

/** What the rows say of a person's tuple. */
async function rowOf(person: Person) {
  const { object, relation, subject } = tupleOf(person);
  const [row] = await asOwner<{ present: boolean; version: string; applied: string; confirmAt: Date | null }>(
    world,
    `select present, version, applied_version as applied, confirm_at as "confirmAt" from desired_tuples
     where object = $1 and relation = $2 and subject = $3`,
    [object, relation, subject],
  );
  return row;
}

/** An owner of an organization that keeps another one when they leave. */
async function oneOfTwoOwners(): Promise<Person> {
  const { organization } = await lonePerson();
  return buildPerson(world, { organization, role: 'owner' });
}

async function revoke({ user, organization }: Person, through: Pick<World, 'runtime'> = world): Promise<void> {
  const context = { caller: systemCaller('test', organization.id), requestId: newId() };
  await through.runtime.database.transact(context, async ({ data }) => {
    const held = await data.findOne(membership, { organizationId: { eq: organization.id }, userId: { eq: user.id } });
    await data.remove(membership, held?.id ?? '');
  });
}

/** Lets writes that match wait until told. */
function holdWrites(matches: (write: OpenfgaProxy['writes'][number]) => boolean) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  fga.beforeWrite = async (write) => {
    if (!matches(write)) return;
    arrive();
    await released;
  };
  return {
    arrived,
    release: () => {
      fga.beforeWrite = async () => {};
      release();
    },
  };
}

test('changed rights are in the store before the answer leaves', async () => {
  const person = await oneOfTwoOwners();
  await eventually(() => isGranted(person));
  await revoke(person);
  expect(await isGranted(person)).toBe(false);
});

test('rights of new records follow in a moment, several in one write', async () => {
  const client = await signedIn(world, await lonePerson());
  await relayOf(world.runtime).apply();
  fga.writes.length = 0;
  const made = await Promise.all(
    ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].map(async (name) => {
      const { data } = await client.graphql(
        `mutation { createOrganization(input: { name: "follow-${name}" }) { organization { id } } }`,
      );
      return data.createOrganization.organization as Person['organization'];
    }),
  );
  const { self } = (await client.graphql('{ self { id } }')).data;
  for (const organization of made) await eventually(() => isGranted({ organization, user: self }));
  expect(fga.writes.length).toBeLessThan(made.length);
});

test('while the store is away requests succeed, and the sweep applies what waits when it is back', async () => {
  fga.isAway = true;
  const person = await lonePerson();
  expect(await rowOf(person)).toMatchObject({ present: true, version: '1', applied: '0' });
  await expect(relayOf(world.runtime).apply()).rejects.toMatchObject({ code: 'authorization_unavailable' });
  fga.isAway = false;
  await relayOf(world.runtime).apply();
  expect(await isGranted(person)).toBe(true);
});

test('a slow store holds the answer up for a moment only, and one connection', async () => {
  const failedWrites = () => world.logs.filter(({ msg }) => String(msg).startsWith('permission tuples stay')).length;
  const before = failedWrites();
  const held = holdWrites(() => true);
  const startedAt = performance.now();
  const people = await Promise.all(Array.from({ length: 6 }, () => lonePerson()));
  await held.arrived;
  // The patience is 250 ms; a request that waited for the store would never end here.
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  // A write that is held for longer than the client waits has failed, as on a machine that is slow.
  expect(fga.writes.length).toBeLessThanOrEqual(1 + failedWrites() - before);
  // The worker of this process has some of its own for a moment.
  await eventually(() => world.runtime.database.activeUnits === 1 || failedWrites() > before);
  held.release();
  if (failedWrites() > before) await eventually(async () => (await relayOf(world.runtime).apply()) >= 0);
  for (const person of people) await eventually(() => isGranted(person));
});

test('a revocation that overtakes its grant on the way to the store is what stays', async () => {
  const { user, organization } = await lonePerson();
  await eventually(() => isGranted({ user, organization }));
  // Opened first: a write that is held for longer than the client waits has failed.
  const other = await world.openInstance();
  // The grant of the next owner, and no write of others beside it.
  const { object, relation } = tupleOf({ user, organization });
  const isGrant = (tuple: { object: string; relation: string }) =>
    tuple.object === object && tuple.relation === relation;
  const held = holdWrites(({ writes }) => writes.some(isGrant));
  const person = await buildPerson(world, { organization, role: 'owner' });
  await held.arrived;

  // Committed while the grant is being written, by another process: it neither waits for it nor overtakes it.
  await revoke(person, other);
  expect(fga.writes.filter(({ deletes }) => deletes.some(isGrant))).toEqual([]);
  expect(await rowOf(person)).toMatchObject({ present: false, version: '2', applied: '0' });

  held.release();
  // Whoever wrote the grant sees that it is out of date and goes on with the revocation.
  await eventually(async () => (await rowOf(person))?.applied === '2');
  expect(await isGranted(person)).toBe(false);
});

test('many relays and many changes leave the store as the rows say', async () => {
  const others = await Promise.all([world.openInstance(), world.openInstance()]);
  const relays = [world, ...others].map(({ runtime }) => relayOf(runtime));
  const people = await Promise.all(Array.from({ length: 5 }, () => oneOfTwoOwners()));
  fga.beforeWrite = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  await Promise.all(
    people.map(async ({ user, organization }) => {
      for (let round = 0; round < 8; round++) {
        const context = { caller: systemCaller('test', organization.id), requestId: newId() };
        await world.runtime.database.transact(context, async ({ data }) => {
          const held = await data.findOne(membership, { userId: { eq: user.id } });
          if (held) await data.remove(membership, held.id);
          else await data.create(membership, { organizationId: organization.id, userId: user.id, role: 'owner' });
        });
        await Promise.all(relays.map((relay) => relay.apply()));
      }
    }),
  );
  fga.beforeWrite = async () => {};
  await Promise.all(relays.map((relay) => relay.apply()));
  for (const person of people) {
    const row = await rowOf(person);
    expect(row).toMatchObject({ version: row?.applied });
    expect(await isGranted(person)).toBe(row?.present);
  }
});

test('T-72: five first writes of one tuple at once all succeed, and leave it once', async () => {
  const { store } = world.runtime;
  assert(store);
  const { object, relation } = tupleOf(await lonePerson(), 'member');
  const count = timesOf({ sample: 20, prove: 1_000 });
  const tuples = Array.from({ length: count }, () => ({ object, relation, subject: `user:${newId()}` }));
  for (const tuple of tuples) await Promise.all(Array.from({ length: 5 }, () => store.write([tuple], [])));
  const written = new Set(tuples.map(({ subject }) => subject));
  const found = [];
  for await (const { subject } of store.tuples()) if (written.has(subject)) found.push(subject);
  expect(found.toSorted()).toEqual([...written].toSorted());
  recordTried('tuples that five write at once', count);
  // No record grants them.
  for (let from = 0; from < count; from += 20) await store.write([], tuples.slice(from, from + 20));
});

test('an older write that lands after its relay has died is undone', async () => {
  const person = await oneOfTwoOwners();
  await revoke(person);
  expect(await rowOf(person)).toMatchObject({
    present: false,
    version: '2',
    applied: '2',
    confirmAt: expect.any(Date),
  });
  // The grant of a relay that died with its request on the way.
  await world.runtime.store?.write([tupleOf(person)], []);
  expect(await isGranted(person)).toBe(true);

  expect(await relayOf(world.runtime).apply()).toBe(0);
  world.clock.advance(61_000);
  await relayOf(world.runtime).apply();
  expect(await isGranted(person)).toBe(false);
  expect(await rowOf(person)).toMatchObject({ confirmAt: null });
});

test('authz.maxbatchwritesize is the most tuples of one write', async () => {
  shows('authz.maxbatchwritesize');
  fga.isAway = true;
  await world.reconfigure({ CORE_AUTHZ_MAXBATCHWRITESIZE: '3' });
  await Promise.all(Array.from({ length: 7 }, () => lonePerson()));
  fga.isAway = false;
  await relayOf(world.runtime).apply();
  const sizes = fga.writes.map(({ writes }) => writes.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(7);
  expect(Math.max(...sizes)).toBe(3);
});

/** The owner of a personal organization: it has no groups, so there is one tuple. */
async function lonePerson(): Promise<Person> {
  const context = { caller: systemCaller('test builder'), requestId: `build-${newId()}` };
  const home = await world.runtime.database.transact(context, ({ data }) =>
    data.create(organization, { name: `personal-${newId()}`, isPersonal: true }),
  );
  return buildPerson(world, { organization: home });
}
