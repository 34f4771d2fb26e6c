// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrate } from '#migrations/migrator.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Processes take a while to start, the more so beside others. */

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const startWorkerOn = (databaseUrl: string) =>
  new ProductProcess({
    program: 'worker/worker-main.ts',
    environment: { ...world.environment, CORE_DB_PRIMARYDBSOURCE: databaseUrl },
  });

test('a worker waits until somebody has migrated the database, and never does so itself', async () => {
  const name = `${world.name}_unmigrated`;
  const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
  const url = inject('stack').postgresUrl.replace('DATABASE', name);
  await createDatabase(admin, name);
  const worker = startWorkerOn(url);
  await eventually(
    () => worker.logs.some((line) => /lacks the migrations \d{14}-first.*Waiting/.test(String(line['msg']))),
    60_000,
  );
  expect(await asOwner({ databaseUrl: url }, `select 1 from pg_tables where schemaname = 'public'`)).toEqual([]);
  await migrate(url);
  await worker.ready;
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
  await dropDatabase(admin, name);
});

test('a worker leaves the database of a newer version alone and says so on one line', async () => {
  await asOwner(world, `insert into migrations (name) values ('9999-from-the-future')`);
  try {
    const worker = startWorkerOn(world.databaseUrl);
    expect(await worker.ended).toEqual({ code: 1, signal: null });
    const fatal = worker.logs.filter((line) => line['level'] === 'fatal');
    expect(fatal).toMatchObject([{ msg: expect.stringContaining('9999-from-the-future') as string }]);
    expect(JSON.stringify(fatal)).not.toContain('.ts:');
  } finally {
    await asOwner(world, `delete from migrations where name = '9999-from-the-future'`);
  }
});
