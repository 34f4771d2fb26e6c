import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { StartedProduct } from '../kit/started-product.ts';
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
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], STACK_STATE_DIR: join(folder, 'state') };
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

describe('with servers of your own, named in a file', () => {
  let world: World;
  let product: StartedProduct;
  beforeAll(async () => {
    world = await openWorld();
    const file = join(folder, 'own servers.yaml');
    const { CORE_AUTHZ_HOSTURL: hosturl, CORE_JOBQUEUE_CONNECTIONURI: connectionuri } = world.environment;
    const settings = {
      server: { listen: 'localhost:0', metricsport: '' },
      db: { primarydbsource: world.databaseUrl },
      authz: { hosturl, storename: world.name },
      jobqueue: { connectionuri, queueconf: { Schema: world.name } },
    };
    writeFileSync(file, JSON.stringify(settings));
    product = await StartedProduct.start(['--config', file]);
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
    expect(Object.keys(product.facts.pids)).toEqual(['api', 'worker']);
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
});
