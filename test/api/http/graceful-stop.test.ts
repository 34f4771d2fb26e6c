// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { Client } from 'pg';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { ProductProcess } from '../../kit/processes/spawned-process.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function startApi(environment: Readonly<Record<string, string>>): Promise<ProductProcess> {
  const api = new ProductProcess({
    program: 'api/api-main.ts',
    environment: {
      ...world.environment,
      STACK_STATE_DIR: join(world.mailFolder, '..'),
      CORE_SERVER_WRITETIMEOUT: '300000',
      ...environment,
    },
  });
  await api.ready;
  // Its log travels by another way than its message.
  await eventually(() => api.url !== '');
  return api;
}

/** Holds every request that looks at people. */
async function lockPeople(): Promise<{ release: () => Promise<void> }> {
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query('lock table users in access exclusive mode');
  return { release: async () => void (await client.query('rollback')) };
}

/** A sign-in that waits for the lock. */
async function waitingSignIn(api: ProductProcess): Promise<{ answer: Promise<Response> }> {
  const { headers } = await fetch(`${api.url}/livez`);
  const token = /csrf_token=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';
  const answer = fetch(`${api.url}/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `csrf_token=${token}`, 'x-csrf-token': token },
    body: JSON.stringify({ username: 'nobody@example.com', password: 'wrong' }),
  });
  answer.catch(() => {});
  await eventually(async () => {
    const waiting = await asOwner(
      world,
      `select 1 from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
      [world.name],
    );
    return waiting.length > 0;
  });
  return { answer };
}

const says = (api: ProductProcess, text: string) => eventually(() => api.logs.some((line) => line['msg'] === text));

test('what is under way is answered; what comes meanwhile is told to go elsewhere; then it ends with 0', async () => {
  const api = await startApi({ CORE_SERVER_SHUTDOWNGRACEPERIOD: '300000' });
  const lock = await lockPeople();
  const { answer } = await waitingSignIn(api);
  // A busy machine may be too slow to be ready at once.
  await eventually(async () => (await fetch(`${api.url}/readyz`)).status === 200);

  const end = api.stop();
  await says(api, 'api stops');
  const readiness = await fetch(`${api.url}/readyz`);
  expect([readiness.status, await readiness.json()]).toMatchObject([503, { status: 'shutting down' }]);
  expect((await fetch(`${api.url}/livez`)).status).toBe(503);
  const refused = await fetch(`${api.url}/docs`);
  expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
  expect(await refused.json()).toMatchObject({ code: 'shutting_down' });
  // A second signal hurries nothing.
  void api.stop('SIGINT');
  expect((await fetch(`${api.url}/readyz`)).status).toBe(503);

  await lock.release();
  expect([(await answer).status, await (await answer).json()]).toMatchObject([401, { code: 'invalid_credentials' }]);
  expect(await end).toEqual({ code: 0, signal: null });
  await expect(fetch(`${api.url}/readyz`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect(api.logs.filter((line) => line['level'] === 'error')).toEqual([]);
});

test('server.shutdowngraceperiod: what takes longer is cut off, and it still ends with 0', async () => {
  shows('server.shutdowngraceperiod');
  const api = await startApi({
    // Also how long a start waits for its servers.
    CORE_SERVER_SHUTDOWNGRACEPERIOD: '3000',
  });
  const lock = await lockPeople();
  const { answer } = await waitingSignIn(api);
  // The lock is held all the while.
  expect(await api.stop('SIGINT')).toEqual({ code: 0, signal: null });
  await expect(answer).rejects.toThrow('fetch failed');
  await lock.release();
});
