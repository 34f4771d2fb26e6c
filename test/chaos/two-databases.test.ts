import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareDatabase } from '#api/prepare-database.ts';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { compareDatabases } from '#entities/kit/storage/second/compare-databases.ts';
import { createDatabase } from '#temporal-dev/servers/create-database.ts';
import { startStack, type Stack } from '#temporal-dev/stack/start-stack.ts';
import { asOwner } from '../kit/as-owner.ts';
import { sampleOf, timesOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, testPassword } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';
import { prepareTestStack, type StartedTestStack } from '../setup/test-stack.ts';
import { Visitors } from './traffic.ts';

// On servers of its own, which are really killed: one for each of the two databases.

const api = 'api/api-main.ts' satisfies Program;

/** Where an API dies while it writes to both. */
const steps = [
  'before-commit',
  'commit-prepared',
  'commit-decided',
  'after-commit',
] as const satisfies readonly Failpoint[];
/** When a step that has not come is not going to. */
const stepWithinMs = 60_000;
/** How often it dies at each of them. */
const rounds = timesOf({ sample: 1, prove: 25 });

let folders: string[];
let own: StartedTestStack;
let other: Stack;
let world: World;
let second: { readonly databaseUrl: string };
beforeAll(async () => {
  folders = await Promise.all(
    ['core-first-', 'core-second-'].map(async (name) => realpath(await mkdtemp(join(tmpdir(), name)))),
  );
  const [ownFolder = '', otherFolder = ''] = folders;
  own = await prepareTestStack(ownFolder, () => {});
  other = await startStack({
    stateDir: otherFolder,
    profile: 'test',
    without: ['temporal', 'openfga'],
    report: () => {},
  });
  const { postgres } = other;
  if (!postgres) throw new Error('the stack was to have PostgreSQL');
  await createDatabase(postgres.url('postgres'), 'core_second');
  second = { databaseUrl: postgres.url('core_second') };
  world = await openWorld({
    stack: own.stack,
    environment: { CORE_DB_MULTIWRITE: 'true', CORE_DB_SECONDARYDBSOURCE: second.databaseUrl },
  });
  const { db } = world.config.current;
  await prepareDatabase({ ...world.config.current, db: { ...db, runmigrations: true } }, world.api.services.logger);
});
afterAll(async () => {
  await world.close();
  await own.servers.stop();
  await other.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** What was left prepared ends by itself, and then both databases have the same rows. */
async function expectBothEqual(): Promise<void> {
  await eventually(async () => {
    const left = await asOwner(second, 'select gid from pg_prepared_xacts');
    return left.length === 0;
  }, stepWithinMs);
  const options = { pageSize: 500, isQuiet: false, onProgress: () => {} };
  const databases = { url: world.databaseUrl, secondUrl: second.databaseUrl, applicationName: 'test' };
  expect(await compareDatabases(databases, options)).toEqual([]);
}

async function expectCreatedOnce({ created, refused }: Pick<Visitors, 'created' | 'refused'>): Promise<void> {
  for (const database of [world, second]) {
    const rows = await asOwner<{ name: string; owners: number }>(
      database,
      `select o.name, count(m.id)::int as owners from organizations o left join memberships m on m.organization_id = o.id
       where o.name = any($1) group by o.id`,
      [[...created, ...refused]],
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...created].toSorted());
    expect(rows.filter(({ owners }) => owners !== 1)).toEqual([]);
  }
}

test('an API killed at each step: what was answered is in both databases, once, and nothing else', async () => {
  const lives = steps.flatMap((step) =>
    Array.from({ length: rounds }, (_, round) => ({ FAILPOINTS: `${step}=kill@${round}` })),
  );
  const product = await ProductProcesses.start(world, [api, api], { [api]: lives });
  try {
    const traffic = await Visitors.of(world, { urls: () => product.apiUrls });
    const end = new AbortController();
    const visits = Promise.all(
      [0, 1].map(() =>
        traffic.repeat(end.signal, async () => {
          await traffic.createOrganization();
          await traffic.beRefused();
        }),
      ),
    );
    visits.catch(() => {});
    try {
      for (const place of product.places) await Promise.race([place.untilFirstLivesEnded(), visits]);
    } finally {
      end.abort();
    }
    await visits;
    expect(traffic.unexpected).toEqual([]);
    product.refuseCrashes();
    await expectBothEqual();
    await expectCreatedOnce(traffic);
    recordTried('kills of an API that writes to two databases', lives.length);
  } finally {
    await product.close();
  }
});

const outages = sampleOf(
  'killed databases',
  (['primary', 'second'] as const).flatMap((victim) =>
    (['commit-prepared', 'commit-decided'] as const).flatMap((step) =>
      [false, true].map((isApiKilled) => ({ victim, step, isApiKilled })),
    ),
  ),
  // Each takes ten seconds, and four times that on a busy machine: `npm run prove` tries all.
  { by: [({ victim }) => victim, ({ step }) => step] },
);

describe('a database killed between two steps', () => {
  test.each(outages)('%o', async ({ victim, step, isApiKilled }) => {
    const { user } = await buildPerson(world);
    const login = await world.client().post('/v1/login', { username: user.email, password: testPassword });
    const process = new ProductProcess({
      program: api,
      environment: {
        ...world.environment,
        STACK_STATE_DIR: dirname(world.mailFolder),
        // It stands still for five seconds where it would go on to the next step.
        FAILPOINTS: `${step}=pause@0`,
      },
    });
    try {
      await process.ready;
      // Its word that it serves can arrive before the line that says where.
      const url = await eventually(() => process.url || undefined);
      const name = `outage-${newId().toLowerCase()}`;
      const answer = fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${String(login.body.access_token)}` },
        body: JSON.stringify({
          query: 'mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { id } } }',
          variables: { name },
        }),
      }).then(
        async (response) =>
          (await response.json()) as { readonly data?: { readonly createOrganization?: object | null } },
        () => undefined,
      );
      // Once it is decided, another process may already have ended what is prepared.
      await eventually(async () => {
        if (step === 'commit-decided') return isDecided(name);
        return (await asOwner(second, 'select 1 from pg_prepared_xacts')).length > 0;
      }, stepWithinMs);
      const servers = victim === 'primary' ? own.servers : other;
      await servers.kill('postgres');
      if (isApiKilled) await process.kill();
      await servers.restart('postgres');
      if (victim === 'primary') await own.servers.restart('openfga');
      const answered = await answer;
      await expectBothEqual();
      const [row] = await asOwner(world, 'select 1 from organizations where name = $1', [name]);
      // What was decided stays, whoever dies; what was not decided is gone where somebody who had to decide it died.
      if (step === 'commit-decided') expect(row).toBeDefined();
      else if (victim === 'primary' || isApiKilled) expect(row).toBeUndefined();
      if (answered?.data?.createOrganization) expect(row).toBeDefined();
      recordTried(`kills of the ${victim} database between two steps`, 1);
    } finally {
      await process.kill();
    }
  });
});

/** Whether the primary database has committed the organization. */
async function isDecided(name: string): Promise<boolean> {
  return (await asOwner(world, 'select 1 from organizations where name = $1', [name])).length > 0;
}
