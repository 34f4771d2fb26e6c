// Left to npm run prove; npm test has test/docs/readme.test.ts.
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { ProductProcess } from '../../kit/processes/spawned-process.ts';
import { startTcpProxy } from '../../kit/servers/tcp-proxy.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
/** Somebody else's port. */
let holder: Server;
let takenAddress: string;

beforeAll(async () => {
  world = await openWorld();
  holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  takenAddress = `127.0.0.1:${(holder.address() as AddressInfo).port}`;
});
afterAll(async () => {
  holder.close();
  await world.close();
});

const stateFolder = () => join(world.mailFolder, '..', 'state');

function startApi(environment: Readonly<Record<string, string>>): ProductProcess {
  return new ProductProcess({
    program: 'api/api-main.ts',
    environment: { ...world.environment, STACK_STATE_DIR: stateFolder(), ...environment },
  });
}

/** It ends with 1 and says why on one line, without a stack. */
async function refusal(api: ProductProcess): Promise<string> {
  expect(await api.ended).toEqual({ code: 1, signal: null });
  expect(api.output).toBe('');
  const fatal = api.logs.filter((line) => line['level'] === 'fatal');
  expect(fatal).toHaveLength(1);
  expect(JSON.stringify(fatal)).not.toContain('.ts:');
  return String(fatal[0]?.['msg']);
}

/** The same for what is wrong with the configuration, which is said on standard error. */
async function configurationRefusal(api: ProductProcess): Promise<string[]> {
  expect(await api.ended).toEqual({ code: 1, signal: null });
  const [heading, ...problems] = api.output.trimEnd().split('\n');
  expect(heading).toMatch(/^The configuration has/);
  return problems;
}

const waits = (line: Record<string, unknown>) => String(line['msg']).endsWith('Waiting.');

const isWaiting = (api: ProductProcess) => eventually(() => api.logs.some(waits));

function databaseUrl(change: (url: URL) => void): string {
  const url = new URL(world.databaseUrl);
  change(url);
  return url.href;
}

// Processes take a while to start, the more so beside others.
vi.setConfig({ testTimeout: 120_000 });

describe.concurrent('a port that is in use', () => {
  test('of server.listen is named', async () => {
    const said = await refusal(startApi({ CORE_SERVER_LISTEN: takenAddress }));
    expect(said).toBe(
      `server.listen is ${takenAddress}, but that port is in use: end the process that holds it, or choose another port.`,
    );
  });

  test('of server.metricsport is named', async () => {
    const said = await refusal(startApi({ CORE_SERVER_METRICSPORT: takenAddress }));
    expect(said).toContain(`server.metricsport is ${takenAddress}, but that port is in use`);
  });
});

describe.concurrent('a database URL', () => {
  test('that is none is refused with the rest of the configuration', async () => {
    const said = await configurationRefusal(startApi({ CORE_DB_PRIMARYDBSOURCE: 'mysql://127.0.0.1/core' }));
    expect(said).toEqual([expect.stringContaining('CORE_DB_PRIMARYDBSOURCE: db.primarydbsource')]);
  });

  test('with a wrong password is refused at once, and the password stays out of it', async () => {
    const api = startApi({
      CORE_DB_PRIMARYDBSOURCE: databaseUrl((url) => (url.password = 'not-the-password')),
      CORE_SERVER_SHUTDOWNGRACEPERIOD: '600000',
    });
    expect(await refusal(api)).toContain('The database refuses the connection (db.primarydbsource): password');
    expect(api.tail).not.toContain('not-the-password');
  });

  test('of a database that does not exist makes none', async () => {
    const api = startApi({
      CORE_DB_PRIMARYDBSOURCE: databaseUrl((url) => (url.pathname = `/${world.name}_typo`)),
      CORE_DB_RUNMIGRATIONS: 'true',
      CORE_SERVER_SHUTDOWNGRACEPERIOD: '600000',
    });
    expect(await refusal(api)).toContain(`database "${world.name}_typo" does not exist`);
    const made = await asOwner(world, 'select 1 from pg_database where datname = $1', [`${world.name}_typo`]);
    expect(made).toEqual([]);
  });

  test('where nobody answers is tried for shutdowngraceperiod, and given up', async () => {
    const api = startApi({
      CORE_DB_PRIMARYDBSOURCE: databaseUrl((url) => (url.host = takenAddress)),
      CORE_SERVER_SHUTDOWNGRACEPERIOD: '100',
    });
    // The holder of that port takes connections and says nothing.
    expect(await refusal(api)).toContain('The database cannot be reached (db.primarydbsource)');
    expect(api.logs.filter(waits).length).toBeLessThanOrEqual(1);
  });

  test('where nobody is yet is tried until somebody is', async () => {
    const proxy = await startTcpProxy(new URL(world.databaseUrl).host);
    proxy.cut();
    const api = startApi({ CORE_DB_PRIMARYDBSOURCE: databaseUrl((url) => (url.host = proxy.address)) });
    await isWaiting(api);
    proxy.restore();
    await api.ready;
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    await proxy.close();
  });

  test('that is being waited for does not keep the process from ending', async () => {
    const proxy = await startTcpProxy(new URL(world.databaseUrl).host);
    proxy.cut();
    const api = startApi({
      CORE_DB_PRIMARYDBSOURCE: databaseUrl((url) => (url.host = proxy.address)),
      CORE_SERVER_SHUTDOWNGRACEPERIOD: '600000',
    });
    await isWaiting(api);
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    await proxy.close();
  });
});

describe('the schema', () => {
  const empty = () => `${world.name}_empty`;
  const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
  const tables = (name: string) =>
    asOwner(
      { databaseUrl: databaseUrl((url) => (url.pathname = `/${name}`)) },
      `select 1 from pg_tables where schemaname = 'public'`,
    );

  test('db.runmigrations off: missing migrations are named and not run; on: they are', async () => {
    await createDatabase(admin, empty());
    const url = databaseUrl((each) => (each.pathname = `/${empty()}`));
    const off = startApi({ CORE_DB_PRIMARYDBSOURCE: url, CORE_DB_RUNMIGRATIONS: 'false' });
    expect(await refusal(off)).toMatch(/^The database lacks the migrations \d{14}-first.*npm run migrate/);
    expect(await tables(empty())).toEqual([]);

    const on = startApi({ CORE_DB_PRIMARYDBSOURCE: url, CORE_DB_RUNMIGRATIONS: 'true' });
    await on.ready;
    expect((await tables(empty())).length).toBeGreaterThan(5);
    await on.stop();
    await dropDatabase(admin, empty());
  });

  test.each(['true', 'false'])('of a newer version is left alone (runmigrations %s)', async (migrations) => {
    await asOwner(world, `insert into migrations (name) values ('9999-from-the-future')`);
    try {
      const said = await refusal(startApi({ CORE_DB_RUNMIGRATIONS: migrations }));
      expect(said).toContain('migrations this version does not know (9999-from-the-future): start the newer version');
    } finally {
      await asOwner(world, `delete from migrations where name = '9999-from-the-future'`);
    }
  });
});

test('server.dev off: without its secrets nothing starts and nothing is generated', async () => {
  const secrets = {
    CORE_SESSIONS_SIGNINGKEY: 'sessions.signingkey',
    CORE_SESSIONS_ENCRYPTIONKEY: 'sessions.encryptionkey',
    CORE_TOTP_SECRET: 'totp.secret',
  };
  const folder = join(stateFolder(), 'production');
  const none = Object.fromEntries(Object.keys(secrets).map((variable) => [variable, '']));
  const production = startApi({ ...none, CORE_SERVER_DEV: 'false', STACK_STATE_DIR: folder });
  const said = await configurationRefusal(production);
  for (const [variable, path] of Object.entries(secrets)) {
    const line = said.find((each) => each.includes(variable));
    expect(line).toContain(`${path}: is missing, but needed because server.dev is off`);
  }
  expect(said).toHaveLength(3);
  expect(existsSync(folder)).toBe(false);

  const development = startApi({ ...none, STACK_STATE_DIR: folder });
  await development.ready;
  expect(existsSync(join(folder, 'secrets.json'))).toBe(true);
  await development.stop();
});

test('a signing key that cannot be used is named', async () => {
  const api = startApi({ CORE_AUTH_TOKEN_KEYS: JSON.stringify({ test: '/nowhere/key.pem' }) });
  expect(await refusal(api)).toBe('auth.token.keys: "test" cannot be read (ENOENT).');
});
