// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { setTimeout as pause } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defineRoute, type Route } from '#api/http/route.ts';
import { organization } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { Gate } from '../../kit/http/misbehaving-routes.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { RawConnection } from '../../kit/http/raw-http.ts';
import { startTcpProxy, type TcpProxy } from '../../kit/servers/tcp-proxy.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const timeoutMs = 600;
let gate = new Gate();

type Handle = Route['handle'];

function route(url: string, handle: Handle): Route {
  return defineRoute({
    method: 'GET',
    url,
    operationId: 'route',
    tag: 'Test',
    summary: 'Test',
    description: 'Test.',
    access: 'public',
    answers: { 200: Type.Object({ seen: Type.Array(Type.String()) }) },
    errors: [],
    handle,
  });
}

const settings = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
  current_setting('idle_in_transaction_session_timeout') as idle`;

const routes = [
  route('/test/slow-statement', async ({ unit }) => {
    await (await unit.readAs('app')).query('select pg_sleep(30)');
    return { status: 200, body: { seen: [] } };
  }),
  route('/test/slow-handler', async ({ unit }) => {
    await (await unit.readAs('app')).query('select 1');
    await gate.pass();
    await (await unit.readAs('app')).query('select 1');
    return { status: 200, body: { seen: [] } };
  }),
  route('/test/waits-for-nothing', async () => {
    await new Promise(() => {});
    return { status: 200, body: { seen: [] } };
  }),
  route('/test/locks', async ({ unit }) => {
    await (await unit.readAs('system')).query('select pg_advisory_xact_lock(4711)');
    return { status: 200, body: { seen: [] } };
  }),
  route('/test/waits-in-transaction', async ({ unit }) => {
    const session = await unit.readAs('app');
    await session.query('select 1');
    await gate.pass();
    await session.query('select 2');
    return { status: 200, body: { seen: [] } };
  }),
  route('/test/commits-later', async ({ unit }) => {
    await (await unit.readAs('app')).query('select 1');
    await gate.pass();
    return { status: 200, body: { seen: [] } };
  }),
  route('/test/settings', async ({ unit }) => {
    const { rows } = await (
      await unit.readAs('app')
    ).query<{ statement: string; lock: string; idle: string }>(settings);
    return { status: 200, body: { seen: [rows[0]?.statement, rows[0]?.lock, rows[0]?.idle] } };
  }),
  route('/test/settings-later', async ({ unit }) => {
    const read = async () => {
      const { rows } = await (await unit.readAs('app')).query<{ statement: string }>(settings);
      return rows[0]?.statement ?? '';
    };
    const first = await read();
    await pause(400);
    return { status: 200, body: { seen: [first, await read()] } };
  }),
  route('/test/slow-commit', async ({ unit }) => {
    await unit.data.privileged('test').create(organization, { name: 'slow-commit' });
    return { status: 200, body: { seen: [] } };
  }),
];

let world: World;
let hurried: Instance;
let proxy: TcpProxy;

beforeAll(async () => {
  world = await openWorld({ routes });
  hurried = await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: String(timeoutMs) } });
  await asOwner(
    world,
    `create function take_time() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return null; end $$;
     create constraint trigger slow after insert on organizations deferrable initially deferred for each row
       when (new.name = 'slow-commit') execute function take_time();`,
  );
});
afterAll(async () => {
  await world.close();
  await proxy.close();
});

const milliseconds = (text: string) =>
  Number(/^(\d+)ms$/.exec(text)?.[1] ?? Number(/^(\d+)s$/.exec(text)?.[1]) * 1_000);

describe('server.writetimeout is the deadline of a request', () => {
  test.each(['/test/slow-statement', '/test/slow-handler', '/test/waits-for-nothing'])(
    '%s answers 503',
    async (url) => {
      gate = new Gate();
      const answer = await hurried.client().get(url);
      expectProblem(answer, 'deadline_exceeded');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      // What the handler still does finds the door closed, and is nobody's failure.
      gate.open();
    },
  );

  test('and of a wait for a lock', async () => {
    const holder = world.runtime.database.unitOfWork({ caller: systemCaller('test'), requestId: 'holder' });
    await (await holder.readAs('system')).query('select pg_advisory_xact_lock(4711)');
    expectProblem(await hurried.client().get('/test/locks'), 'deadline_exceeded');
    await holder.rollback();
    expect((await hurried.client().get('/test/locks')).status).toBe(200);
  });

  test('and of a GraphQL operation', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const inHurry = hurried.client();
    inHurry.bearer = client.cookies.get('access_token');
    const lock = world.runtime.database.unitOfWork({ caller: systemCaller('test'), requestId: 'holder' });
    await (
      await lock.readAs('system')
    ).query(
      `insert into organizations (id, name, name_form, created_at, updated_at, created_by, updated_by, record_version, is_personal, is_archived, founder_id)
       values ('01HZZZZZZZZZZZZZZZZZZZZZZZ', 'taken-for-now', 'taken-for-now', now(), now(), 'x', 'x', 1, false, false, $1)`,
      [person.user.id],
    );
    const answer = await inHurry.graphql(
      'mutation { createOrganization(input: { name: "taken-for-now" }) { organization { id } } }',
    );
    await lock.rollback();
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.body).toMatchObject({ data: null, errors: [{ extensions: { code: 'deadline_exceeded' } }] });
  });

  test('in PostgreSQL too: statements, locks and idle transactions end with it', async () => {
    const [statement = '', lock, idle] = (await hurried.client().get('/test/settings')).body.seen;
    expect(milliseconds(statement)).toBeGreaterThan(0);
    expect(milliseconds(statement)).toBeLessThanOrEqual(timeoutMs);
    expect([lock, idle]).toEqual([`${timeoutMs}ms`, `${timeoutMs + 5_000}ms`]);
    expect((await world.client().get('/test/settings')).body.seen.slice(1)).toEqual(['15s', '20s']);
  });

  test('a later statement gets only what the handler has left of it', async () => {
    const [first, later] = (await hurried.client().get('/test/settings-later')).body.seen;
    expect(milliseconds(later)).toBeLessThanOrEqual(milliseconds(first) - 250);
  });
});

/** PostgreSQL ends a transaction without statements by itself, but later. */
const beforeIdleLimitMs = 5_000;

describe('a PostgreSQL that stands still', () => {
  let instance: Instance;

  beforeAll(async () => {
    const url = new URL(world.databaseUrl);
    proxy = await startTcpProxy(url.host);
    url.host = proxy.address;
    instance = await world.openInstance({
      environment: { CORE_SERVER_WRITETIMEOUT: String(timeoutMs), CORE_DB_PRIMARYDBSOURCE: url.href },
    });
  });
  afterEach(async () => {
    // Nothing waits for what will not come.
    const { database } = instance.runtime;
    await eventually(() => database.activeUnits === 0 && database.pool.idleCount === database.pool.totalCount);
    proxy.restore();
    await eventually(async () => (await instance.client().get('/readyz')).status === 200);
  });

  test(
    'in the middle of a transaction keeps nobody waiting for its rollback',
    async () => {
      gate = new Gate();
      const answer = instance.client().get('/test/waits-in-transaction');
      await eventually(() => gate.waiting === 1);
      proxy.stall();
      gate.open();
      expectProblem(await answer, 'deadline_exceeded');
    },
    beforeIdleLimitMs,
  );

  test(
    'at the commit leaves open whether the changes are there',
    async () => {
      gate = new Gate();
      const answer = instance.client().get('/test/commits-later');
      await eventually(() => gate.waiting === 1);
      proxy.stall();
      gate.open();
      expectProblem(await answer, 'database_unavailable');
      expect((await answer).body.detail).toContain('may or may not be stored');
    },
    beforeIdleLimitMs,
  );

  test.each([true, false])('before it is known who calls (connections there: %s)', async (areThere) => {
    const { pool } = instance.runtime.database;
    const session = await signedIn(world, await buildPerson(world));
    const client = instance.client();
    client.bearer = session.cookies.get('access_token');
    expect((await client.get('/test/settings')).status).toBe(200);
    proxy.stall();
    // What it has breaks with the first that use it.
    if (!areThere) while (pool.idleCount > 0) expect((await client.get('/test/settings')).status).toBe(503);
    expectProblem(await client.get('/test/settings'), 'deadline_exceeded');
  });
});

describe('a client that goes away', () => {
  test('takes its transaction with it, and what its handler then runs into is no failure', async () => {
    gate = new Gate();
    const { url } = await world.listen();
    const connection = new RawConnection(url);
    connection.write('GET /test/slow-handler HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => gate.waiting === 1);
    const { database } = world.runtime;
    expect(database.activeUnits).toBe(1);
    connection.end();
    await eventually(() => database.activeUnits === 0 && database.pool.idleCount === database.pool.totalCount);
    gate.open();
  });

  test('while COMMIT runs does not end its transaction twice', async () => {
    const { database } = world.runtime;
    const instance = await world.openInstance();
    const { url } = await instance.listen();
    const connection = new RawConnection(url);
    connection.write('GET /test/slow-commit HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(async () => {
      const rows = await asOwner(world, `select 1 from pg_stat_activity where query = 'commit' and state = 'active'`);
      return rows.length === 1;
    });
    connection.end();
    await eventually(async () => {
      const rows = await asOwner(world, `select 1 from organizations where name = 'slow-commit'`);
      return rows.length === 1;
    });
    await eventually(() => instance.runtime.database.activeUnits === 0);
    expect(database.activeUnits).toBe(0);
  });
});

test('none of this was logged as a failure of ours', () => {
  expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
});
