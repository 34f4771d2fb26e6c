// Left to npm run prove; npm test has test/docs/readme.test.ts.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { compileCache } from '../kit/processes/spawned-process.ts';
import { ManagedProcess } from '#temporal-dev/product/managed-process.ts';
import { StartedProduct } from '../kit/processes/started-product.ts';
import { openWorld, type World } from '../kit/world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'core-own-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [['--port', '1'], "Unknown option '--port'"],
  [['production'], "Unexpected argument 'production'"],
  [['--config'], "Option '--config <value>' argument missing"],
])('arguments that are none are refused in one line: %j', async (args, reason) => {
  const environment = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    STACK_STATE_DIR: join(folder, 'state'),
    NODE_COMPILE_CACHE: compileCache,
  };
  const { code, stderr } = await run(process.execPath, ['temporal-dev/start-main.ts', ...args], {
    cwd: root,
    env: environment,
  }).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
  expect(code).toBe(1);
  expect(stderr).toBe(`start: ${reason}; usage: npm start -- [--config FILE]\n`);
  expect(existsSync(join(folder, 'state'))).toBe(false);
});

describe('with PostgreSQL and Temporal of your own, named in a file', () => {
  let world: World;
  let product: StartedProduct;
  beforeAll(async () => {
    world = await openWorld();
    const file = join(folder, 'own servers.yaml');
    const { CORE_JOBQUEUE_CONNECTIONURI: connectionuri } = world.environment;
    const settings = {
      server: { listen: 'localhost:0', metricsport: '' },
      db: { primarydbsource: world.databaseUrl },
      authz: { storename: world.name },
      jobqueue: { connectionuri, queueconf: { Schema: world.name } },
    };
    writeFileSync(file, JSON.stringify(settings));
    // As if the bootstrap had installed dependencies for an hour.
    const STACK_STARTED_AT = String(Date.now() - 3_600_000);
    product = await StartedProduct.start(['--config', file], { STACK_STARTED_AT });
  }, 120_000);
  afterAll(async () => {
    await product.stop();
    await world.close();
  }, 60_000);

  test('nobody is written into the database, and the start says so', async () => {
    expect(product.facts.demo).toEqual({ email: '', password: '', organizationId: '', people: [] });
    expect(await asOwner(world, 'select id from users')).toEqual([]);
    expect(product.output).toContain('no demo data were written');
    expect(product.output).not.toContain('Demo users');
  });

  test('no local PostgreSQL is started: OpenFGA stores its data in a file', () => {
    expect(Object.keys(product.facts.pids)).toEqual(['api', 'worker', 'openfga']);
    expect(existsSync(join(product.stateDir, 'openfga', 'openfga.db'))).toBe(true);
    expect(existsSync(join(product.stateDir, 'postgres'))).toBe(false);
  });

  test('the time of the installation counts', () => {
    expect(product.facts.startedInMs).toBeGreaterThan(3_600_000);
    expect(product.output).toMatch(/Ready in 36\d\d\.\d s/);
  });

  test('the API is where the file says, and metrics that are off have no address', async () => {
    const { api, metrics, temporalUi } = product.facts.urls;
    expect(api).toMatch(/^http:\/\/localhost:[1-9]\d*$/);
    expect((await fetch(`${api}/readyz`)).status).toBe(200);
    expect([metrics, temporalUi]).toEqual(['', '']);
  });

  test('tools beside it read the same file', async () => {
    const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], STACK_STATE_DIR: product.stateDir };
    const { stdout } = await run(
      process.execPath,
      ['temporal-dev/with-local-main.ts', 'migrations/migrate-main.ts', 'up', 'status'],
      { cwd: root, env: environment },
    );
    expect(stdout).toMatch(/pending: none/);
  });

  test('what dies is started again; at the third time the start ends and names the command that helps', async () => {
    const ready = `${product.facts.urls.api}/readyz`;
    const killAndWait = async (name: string) => {
      const killed = product.pidOf(name);
      process.kill(killed, 'SIGKILL');
      await eventually(() => product.pidOf(name) !== killed);
      await eventually(async () => (await fetch(ready)).status === 200);
    };
    for (const name of ['openfga', 'api', 'worker', 'openfga']) await killAndWait(name);
    expect(product.output).toContain('start: openfga ended (signal SIGKILL): starting it again\n');
    process.kill(product.pidOf('openfga'), 'SIGKILL');
    expect(await product.ended()).toBe(1);
    expect(product.output).toContain(
      'start: openfga ended 3 times, now with signal SIGKILL; to see why, run: npm run stack -- logs openfga\n',
    );
    const { stdout } = await run(process.execPath, ['temporal-dev/stack-main.ts', 'logs', 'api'], {
      cwd: root,
      env: { PATH: process.env['PATH'], STACK_STATE_DIR: product.stateDir },
    });
    expect(stdout).toContain('"level"');
  });
});

test('the error of a program that does not start quotes the log of this run only', async () => {
  const stateDir = mkdtempSync(join(folder, 'logs-'));
  mkdirSync(join(stateDir, 'logs'));
  const start = (message: string) => {
    writeFileSync(join(stateDir, 'program.mjs'), `console.log(${JSON.stringify(message)}); process.exit(3);`);
    return new ManagedProcess({ name: 'api', program: 'program.mjs', root: stateDir, stateDir, environment: {} }).ready;
  };
  await expect(start('the earlier run')).rejects.toThrow('the earlier run');
  await expect(start('this run')).rejects.toThrow(
    /^the api process ended during its start \(exit code 3\):\n {2}this run$/,
  );
});
