// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import type { PoolClient } from 'pg';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { Gate, organizationRoute } from '../../kit/http/misbehaving-routes.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let gate = new Gate();

/** Holds its transaction open until the gate opens. */
const holding = defineRoute({
  method: 'GET',
  url: '/test/hold',
  operationId: 'holding',
  tag: 'Test',
  summary: 'Hold',
  description: 'Hold.',
  access: 'public',
  answers: { 200: Type.Null() },
  errors: [],
  handle: async ({ unit }) => {
    await (await unit.readAs('app')).query('select 1');
    await gate.pass();
    return { status: 200, body: null };
  },
});

let world: World;

beforeAll(async () => {
  world = await openWorld({
    routes: [holding, organizationRoute()],
    // The relay would use connections of its own while we count.
    environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' },
  });
});
afterAll(() => world.close());

function instanceWith(environment: Record<string, string>): Promise<Instance> {
  return world.openInstance({ environment });
}

describe('ormconfig.maxpoolsize', () => {
  test('refuses more units of work than it allows, at once, and recovers', async () => {
    shows('ormconfig.maxpoolsize');
    gate = new Gate();
    const instance = await instanceWith({
      CORE_ORMCONFIG_MAXPOOLSIZE: '3',
      CORE_DB_MAXCONNECTIONS: '2',
      CORE_DB_MAXIDLECONNECTIONS: '1',
    });
    const client = instance.client();
    const { database } = instance.runtime;
    const bearer = instance.client();
    bearer.bearer = (await signedIn(world, await buildPerson(world))).cookies.get('access_token');
    const ask = () => bearer.graphql('{ organizations { edges { node { id } } } }');
    expect((await ask()).status).toBe(200);
    const held = Array.from({ length: 3 }, () => client.get('/test/hold'));
    // Two have a connection, the third waits for one.
    await eventually(() => gate.waiting === 2 && database.connections.waiting === 1);
    expect(database.activeUnits).toBe(3);

    const refused = await client.get('/test/hold');
    expectProblem(refused, 'database_busy');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    const operation = await ask();
    expect(operation.status).toBe(503);
    expect(operation.headers['retry-after']).toBe('1');
    expect(operation.errors).toMatchObject([{ extensions: { code: 'database_busy' } }]);
    // Whoever needs no database is served.
    expect((await client.get('/livez')).status).toBe(200);

    gate.open();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await client.get('/test/hold')).status).toBe(200);
    expect(database.activeUnits).toBe(0);
  });

  test('of one is enough for every route, because a request never needs a second place', async () => {
    const instance = await instanceWith({
      CORE_ORMCONFIG_MAXPOOLSIZE: '1',
      CORE_DB_MAXCONNECTIONS: '2',
      CORE_DB_MAXIDLECONNECTIONS: '1',
    });
    const person = await buildPerson(world);
    const client = instance.client();
    const login = { username: person.user.email, password: testPassword };
    expect((await client.post('/v1/login', { ...login, password: 'wrong' })).status).toBe(401);
    expect((await client.post('/v1/login', login)).status).toBe(200);
    expect((await client.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
    expect((await client.post('/test/organizations', { name: 'budget', outcome: 'refuse' })).status).toBe(403);
    expect(await asOwner(world, `select name from organizations where name like 'budget%'`)).toEqual([
      { name: 'budget-refused' },
    ]);
    expect((await client.post('/v1/logout')).status).toBe(200);
  });
});

describe('db.maxconnections', () => {
  test('is what this process takes of the server, however many ask', async () => {
    shows('db.maxconnections');
    for (const most of [2, 5]) {
      gate = new Gate();
      const instance = await instanceWith({
        CORE_DB_MAXCONNECTIONS: String(most),
        CORE_DB_MAXIDLECONNECTIONS: '0',
      });
      const { connections } = instance.runtime.database;
      const held = Array.from({ length: 12 }, () => instance.client().get('/test/hold'));
      await eventually(() => gate.waiting === most && connections.waiting === 12 - most);
      // The relay of the world has transactions in this database too, for a moment each.
      await eventually(async () => {
        const [row] = await asOwner<{ taken: number }>(
          world,
          `select count(*)::int as taken from pg_stat_activity where datname = $1 and state = 'idle in transaction'`,
          [world.name],
        );
        return row?.taken === most;
      });
      gate.open();
      expect((await Promise.all(held)).every(({ status }) => status === 200)).toBe(true);
    }
  });
});

describe('db.maxidleconnections', () => {
  test('is how many connections stay open when nobody needs them', async () => {
    shows('db.maxidleconnections');
    for (const [most, left] of [
      ['3', 3],
      ['0', 0],
    ] as const) {
      gate = new Gate();
      const instance = await instanceWith({ CORE_DB_MAXCONNECTIONS: '6', CORE_DB_MAXIDLECONNECTIONS: most });
      const { pool } = instance.runtime.database;
      const held = Array.from({ length: 6 }, () => instance.client().get('/test/hold'));
      await eventually(() => gate.waiting === 6);
      expect(pool.totalCount).toBe(6);
      gate.open();
      await Promise.all(held);
      await eventually(() => pool.totalCount === left && pool.idleCount === left);
    }
  });
});

describe('connections are shared between organizations', () => {
  const small = { CORE_DB_MAXCONNECTIONS: '4', CORE_DB_MAXIDLECONNECTIONS: '0' };

  test('one organization holds at most three quarters of them, and one person half', async () => {
    gate = new Gate();
    const instance = await instanceWith(small);
    const { connections } = instance.runtime.database;
    const owner = await buildPerson(world);
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const held: Promise<{ readonly status: number }>[] = [];
    const ask = async (person: Person, times: number) => {
      const { cookies } = await signedIn(world, person);
      const client = instance.client();
      for (const [name, value] of cookies) client.cookies.set(name, value);
      held.push(...Array.from({ length: times }, () => client.get('/test/hold')));
    };
    await ask(owner, 6);
    await eventually(() => gate.waiting === 2 && connections.waiting === 4);
    await ask(member, 6);
    await eventually(() => gate.waiting === 3 && connections.waiting === 9);
    await ask(await buildPerson(world), 1);
    await eventually(() => gate.waiting === 4 && connections.waiting === 9);
    gate.open();
    expect((await Promise.all(held)).every(({ status }) => status === 200)).toBe(true);
  });

  const ownerOf = (organizationId: string) => ({ role: 'app', organizationId, userId: null }) as const;
  const soon = () => Date.now() + 10_000;

  /** Takes all connections; then these organizations wait in this order. */
  async function fullQueue(environment: Record<string, string>, waiting: readonly string[]) {
    const { connections } = (await instanceWith(environment)).runtime.database;
    const outcomes: string[] = [];
    const clients: PoolClient[] = [];
    const wait = (name: string) =>
      connections.connect(ownerOf(name), soon()).then(
        (client) => void (outcomes.push(name), clients.push(client)),
        ({ code }: AppError) => void outcomes.push(`${name}: ${code}`),
      );
    await Promise.all(Array.from({ length: 4 }, (_, n) => wait(`held ${n}`)));
    outcomes.splice(0);
    const all = waiting.map(wait);
    return {
      outcomes,
      wait: (name: string) => void all.push(wait(name)),
      releaseAll: async () => {
        await eventually(() => {
          clients.pop()?.release();
          return connections.active === 0;
        });
        await Promise.all(all);
      },
    };
  }

  test('organizations that wait take turns', async () => {
    const { outcomes, releaseAll } = await fullQueue(small, ['a', 'a', 'a', 'a', 'b', 'c', 'b']);
    await releaseAll();
    expect(outcomes).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a']);
  });

  test('a full queue rejects the last one of the organization that waits most', async () => {
    const environment = { ...small, CORE_ORMCONFIG_MAXPOOLSIZE: '7' };
    const { outcomes, wait, releaseAll } = await fullQueue(environment, ['a', 'a', 'a']);
    wait('a');
    await eventually(() => outcomes.length === 1);
    wait('b');
    await eventually(() => outcomes.length === 2);
    wait('c');
    await eventually(() => outcomes.length === 3);
    wait('d');
    await eventually(() => outcomes.length === 4);
    expect(outcomes.splice(0)).toEqual(['a', 'a', 'a', 'd'].map((name) => `${name}: database_busy`));
    await releaseAll();
    expect(outcomes).toEqual(['a', 'b', 'c']);
  });
});

describe('a request', () => {
  test('never holds two connections at the same time', async () => {
    const person = await buildPerson(world);
    // Tuples are carried to OpenFGA over a connection of their own.
    const instance = await instanceWith({ CORE_AUTHZ_ENABLED: 'false' });
    const client = instance.client();
    const { pool } = instance.runtime.database;
    let held = 0;
    let most = 0;
    const onAcquire = () => (most = Math.max(most, ++held));
    const onRelease = () => held--;
    pool.on('acquire', onAcquire).on('release', onRelease);
    const login = { username: person.user.email, password: testPassword };
    const fresh = instance.client();
    const requests = [
      () => client.post('/v1/login', login),
      () =>
        client.graphql('{ self { id } memberships { edges { node { id } } } organizations { edges { node { id } } } }'),
      () => client.graphql('{ organization(id: "01HZZZZZZZZZZZZZZZZZZZZZZZ") { id } }'),
      () => client.post('/test/organizations', { name: 'connections', outcome: 'refuse' }),
      () => client.post('/test/organizations', { name: 'connections', outcome: 'break' }),
      () => client.post('/v1/verify', { token: `${person.user.id}.x`, password: 'x' }),
      () => fresh.post('/v1/login', { ...login, password: 'wrong' }),
      () => fresh.post('/v1/login', login),
      () => fresh.post('/v1/logout'),
    ];
    for (const request of requests) {
      await request();
      // What a commit sets off, the wake-up of the workers, comes after the answer.
      await eventually(() => held === 0);
    }
    pool.off('acquire', onAcquire).off('release', onRelease);
    expect(most).toBe(1);
  });

  test('and so many of them share two connections without waiting for each other in a circle', async () => {
    const instance = await instanceWith({ CORE_DB_MAXCONNECTIONS: '2', CORE_DB_MAXIDLECONNECTIONS: '1' });
    const client = instance.client();
    await client.get('/livez');
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, number) =>
        client.post('/test/organizations', { name: `circle-${number}`, outcome: number % 2 ? 'refuse' : 'answer' }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(20);
    expect(await asOwner(world, `select count(*)::int as count from organizations where name like 'circle-%'`)).toEqual(
      [{ count: 40 }],
    );
  });
});
