// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareDatabase } from '#api/prepare-database.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { takeAttemptApart } from '#entities/kit/access/sign-in-failures.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { maintainPartitions, partitionMaintenance } from '#entities/kit/outbox/outbox.ts';
import { removeCapture } from '#entities/kit/storage/second/row-capture.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { noteCommits } from '../../kit/records/noted-commits.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { startTcpProxy, type TcpProxy } from '../../kit/servers/tcp-proxy.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;
let proxy: TcpProxy;
/** The second database, past the proxy. */
let second: { readonly databaseUrl: string };
let instance: Instance;
let person: Person;
let client: TestClient;
const admin = () => world.databaseUrl.replace(`/${world.name}`, '/postgres');

/** What is in both databases, as `npm run verify` compares it. */
const differences = (pageSize = 7) => hookOf(instance).compare({ pageSize, isQuiet: true, onProgress: () => {} });

function hookOf({ runtime }: Instance) {
  const { hook } = runtime.database.options;
  if (!hook) throw new Error('no hook is registered');
  return hook;
}

const rows = async (text: string, values: readonly unknown[] = []) =>
  Promise.all([world, second].map((database) => asOwner(database, text, values)));

/** As the API does at its start. */
const prepare = (environment: Instance) =>
  prepareDatabase(
    { ...environment.config.current, db: { ...environment.config.current.db, runmigrations: true } },
    world.api.services.logger,
  );

beforeAll(async () => {
  world = await openWorld();
  // There before the second database is.
  for (let count = 0; count < 5; count++) person = await buildPerson(world);
  const name = `${world.name}_second`;
  await createDatabase(admin(), name);
  second = { databaseUrl: world.databaseUrl.replace(world.name, name) };
  const { host } = new URL(second.databaseUrl);
  proxy = await startTcpProxy(host);
  instance = await world.openInstance({
    environment: {
      CORE_DB_MULTIWRITE: 'true',
      CORE_DB_SECONDARYDBSOURCE: second.databaseUrl.replace(host, proxy.address),
    },
  });
  await prepare(instance);
  client = await signedIn(instance, person);
});
afterAll(async () => {
  // The world's own process writes to one database; so the checks at its end can.
  await prepare({ ...instance, config: world.config });
  const { name } = world;
  const by = admin();
  await world.close();
  await dropDatabase(by, `${name}_second`);
  await proxy.close();
});

const create = (title: string) => client.post('/v1/tasks', { title });

test('a second database takes over: it is named as the primary one', async () => {
  // Its first database lacks, in the end, what the second one has got.
  const takeover = await openWorld({ skipVerify: true });
  const name = `${takeover.name}_second`;
  await createDatabase(admin(), name);
  const databaseUrl = takeover.databaseUrl.replace(takeover.name, name);
  try {
    const [own, after] = await Promise.all([
      takeover.openInstance({ environment: { CORE_DB_MULTIWRITE: 'true', CORE_DB_SECONDARYDBSOURCE: databaseUrl } }),
      takeover.openInstance({ environment: { CORE_DB_PRIMARYDBSOURCE: databaseUrl } }),
    ]);
    await prepare(own);
    const someone = await buildPerson({ ...takeover, runtime: own.runtime });
    // From now on the first database is gone.
    await prepare(after);
    const visitor = await signedIn(after, someone);
    expect((await visitor.post('/v1/tasks', { title: 'after the takeover' })).status).toBe(201);
    expect(await asOwner({ databaseUrl }, 'select state from second_database')).toEqual([{ state: 'off' }]);
    await prepare({ ...own, config: takeover.config });
    await Promise.all([after.stopServing(), own.stopServing()]);
  } finally {
    await takeover.close();
    await dropDatabase(admin(), name);
  }
});

test('the first copy brings every record that was there', async () => {
  const [own, copied] = await rows('select id, email from users order by id');
  expect(own).toHaveLength(5);
  expect(copied).toEqual(own);
  expect(await differences()).toEqual([]);
});

describe('db.multiwrite', () => {
  test('writes every change to both databases: records, history, events, tuples, sign-ins', async () => {
    shows('db.multiwrite');
    const { status, body } = await create('in both');
    expect(status).toBe(201);
    expect(
      (await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload: { title: 'anew' } })).status,
    ).toBe(200);
    expect((await client.mutate({ method: 'DELETE', url: `/v1/tasks/${body.id}` })).status).toBeLessThan(300);
    for (const text of [
      'select title, record_version, deleted_at from tasks where id = $1',
      'select operation, record_version, snapshot from history where entity_id = $1 order by record_version',
      'select topic, payload from events where entity_id = $1 order by topic',
      `select relation, subject, present from desired_tuples where object = 'task:' || $1 order by relation, subject`,
    ]) {
      const [own, other] = await rows(text, [body.id]);
      expect(own?.length).toBeGreaterThan(0);
      expect(other).toEqual(own);
    }
    expect(await differences()).toEqual([]);
  });

  test('waits for the disk also where a change alone does not: a crash must not leave the second database ahead', async () => {
    const noted = await noteCommits(world);
    const key = noted.newKey();
    const limits = { deadline: Date.now() + 60_000, traceparent: 'span' };
    await takeAttemptApart(instance.runtime.database, [{ key, limit: 5 }], 60_000, limits);
    expect(await noted.settingOf(key)).toBe('on');
    await noted.forget();
  });

  test('leaves nothing prepared, and forgets what it decided', async () => {
    await create('to be settled');
    await eventually(async () => {
      const [decided] = await asOwner(world, 'select 1 from commit_decisions limit 1');
      const [left] = await asOwner(second, 'select 1 from pg_prepared_xacts where database = current_database()');
      return !decided && !left;
    });
    expect(await asOwner(world, 'select 1 from row_images')).toEqual([]);
  });

  test('of many at the same time, leaves the same rows', async () => {
    const { body } = await create('contended');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 2 === 0
          ? create(`beside ${index}`)
          : client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload: { title: `turn ${index}` } }),
      ),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await differences()).toEqual([]);
  });

  test('changes nothing while the second database is away, says so, and goes on when it is back', async () => {
    proxy.cut();
    const refused = await create('only here');
    expectProblem(refused, 'database_unavailable');
    expect(await asOwner(world, `select 1 from tasks where title = 'only here'`)).toEqual([]);
    const health = await client.get('/readyz');
    expect(health.status).toBe(503);
    expect(health.body.checks).toMatchObject({ db_primary: { status: 'up' }, db_secondary: { status: 'down' } });
    // What only reads needs one database.
    expect((await client.graphql('{ tasks(first: 1) { edges { node { id } } } }')).status).toBe(200);
    proxy.restore();
    expect((await create('again')).status).toBe(201);
    expect((await client.get('/readyz')).body.checks.db_secondary).toEqual({ status: 'up' });
    expect(await differences()).toEqual([]);
  });

  test('refuses what would be changed in one database only', async () => {
    await expect(asOwner(world, `update tasks set title = 'by hand'`)).rejects.toThrow(
      'written to a second database as well',
    );
    // The world's own process has the setting off.
    await expect(buildPerson(world)).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await differences()).toEqual([]);
  });

  test('partitions come and go in both', async () => {
    const at = new Date(Date.now() + 20 * 86_400_000);
    const retention = { eventsMs: 86_400_000, historyMs: 86_400_000 * 365 };
    const day = at.toISOString().slice(0, 10).replaceAll('-', '');
    const context = { caller: systemCaller('test'), requestId: newId() };
    await instance.runtime.database.transact(context, (unit) => maintainPartitions(unit, at, retention));
    await hookOf(instance).maintain(partitionMaintenance(at, retention));
    expect(await differences()).toEqual([]);
    expect(await asOwner(second, 'select to_regclass($1) is not null as exists', [`events_${day}`])).toEqual([
      { exists: true },
    ]);
  });
});

describe('npm run verify', () => {
  test('names rows that differ, are missing, or are too many in the second database', async () => {
    const [one, other] = [(await create('one')).body.id as string, (await create('other')).body.id as string];
    await asOwner(second, `update tasks set title = 'else' where id = $1`, [one]);
    await asOwner(second, 'delete from tasks where id = $1', [other]);
    const extra = person.organization.id.replace(/.$/, '0');
    await asOwner(second, `insert into authorization_revisions values ($1, 1)`, [extra]);
    expect(await differences()).toEqual([
      `authorization_revisions {"scope": "${extra}"} is only in the second database`,
      `tasks {"id": "${one}"} differs in the second database`,
      `tasks {"id": "${other}"} is missing in the second database`,
    ]);
    // Copied anew, the databases agree.
    await asOwner(world, `update second_database set epoch = 'old'`);
    await prepare(instance);
    expect(await differences()).toEqual([]);
  });
});

describe('the start', () => {
  const withSecond = (url: string) =>
    world.openInstance({ environment: { CORE_DB_MULTIWRITE: 'true', CORE_DB_SECONDARYDBSOURCE: url } });

  test('does nothing where the second database is up to date', async () => {
    const states = () => rows('select state, epoch from second_database');
    const before = await states();
    await prepare(instance);
    expect(await states()).toEqual(before);
  });

  test('copies while others write', async () => {
    await asOwner(world, `update second_database set epoch = 'old'`);
    const end = new AbortController();
    const writing = (async () => {
      for (let count = 0; !end.signal.aborted; count++)
        if ((await create(`meanwhile ${count}`)).status >= 500) throw new Error('a request failed');
    })();
    writing.catch(() => {});
    await prepare(instance);
    end.abort();
    await writing;
    expect(await differences()).toEqual([]);
  });

  test('refuses a second database that holds something else', async () => {
    shows('db.secondarydbsource');
    const foreign = await openWorld();
    try {
      await buildPerson(foreign);
      await expect(prepare(await withSecond(foreign.databaseUrl))).rejects.toThrow('would be overwritten');
    } finally {
      await foreign.close();
    }
  });

  test('refuses the primary database under another name', async () => {
    const { host } = new URL(world.databaseUrl);
    const around = await withSecond(world.databaseUrl.replace(host, host.replace('127.0.0.1', 'localhost')));
    await expect(prepare(around)).rejects.toThrow('is the primary database');
  });

  test('without migrations, refuses a process whose setting the database does not have', async () => {
    const { logger } = world.api.services;
    await expect(prepareDatabase(world.config.current, logger)).rejects.toThrow('although db.multiwrite is off');
  });

  test('copies anew after migrations, with which capture ends', async () => {
    await prepare({ ...instance, config: world.config });
    await removeCapture({ query: async (text) => ({ rows: await asOwner(world, text) }) });
    await prepare(instance);
    expect((await create('after a migration')).status).toBe(201);
    expect(await differences()).toEqual([]);
  });
});
