// Left to npm run prove; npm test has test/workflows/maintenance/backfills.test.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paced } from '../bench/latencies.ts';
import { percentile } from '../bench/row.ts';
import { asOwner } from '../kit/as-owner.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, testPassword } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import { storeOlderOrganizations } from '../kit/records/older-organizations.ts';
import { runsOf } from '../kit/runs.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

const api = 'api/api-main.ts' satisfies Program;
const worker = 'worker/worker-main.ts' satisfies Program;

/** Organizations, with those of the person who owns all others, and of the one who works beside the backfill. */
const rows = timesOf({ sample: 3_000, prove: 100_000 });
const workers = timesOf({ sample: 2, prove: 10 });
/** Kills at any moment, besides those at the failpoints of a page. */
const randomKills = timesOf({ sample: 0, prove: 30 });
const requestsPerSecond = 10;
/** How long requests are timed while no backfill runs, in milliseconds. */
const calmMs = timesOf({ sample: 3_000, prove: 30_000 });
const withinMs = timesOf({ sample: 120_000, prove: 1_800_000 });

/** Each worker dies before it commits a page, and in its next life after it has committed one. */
const deadly = ['backfill-written', 'backfill-committed'].flatMap((name) =>
  Array.from({ length: workers }, () => ({ FAILPOINTS: `${name}:billing-emails=kill@2` })),
);

let world: World;
/** Of the person who works beside the backfill. */
let bearer: string;
let served: ProductProcesses;
beforeAll(async () => {
  // Older organizations are rows alone.
  world = await openWorld({ skipVerify: true });
  await storeOlderOrganizations(world, await buildPerson(world), rows - 2);
  const { user } = await buildPerson(world);
  const login = await world.client().post('/v1/login', { username: user.email, password: testPassword });
  bearer = `Bearer ${login.body.access_token}`;
  served = await ProductProcesses.start(world, [api]);
});
afterAll(async () => {
  await served.close();
  await world.close();
});

const startWorkers = (lives: readonly Record<string, string>[]) =>
  ProductProcesses.start(
    world,
    Array.from({ length: workers }, () => worker),
    { [worker]: lives },
  );

const runOf = async () => {
  const [run] = await asOwner<{ status: string; examined: number; changed: number; failures: unknown }>(
    world,
    `select status, examined_records::int as examined, changed_records::int as changed, failures from backfill_runs
     where routine = 'billing-emails'`,
  );
  return run;
};

/** Somebody else's requests: how long each takes, in milliseconds. */
async function timedRequests(forMs: number): Promise<number[]> {
  const headers = { authorization: bearer, 'content-type': 'application/json' };
  const times: number[] = [];
  await paced(requestsPerSecond, forMs, async () => {
    const [url = ''] = served.apiUrls;
    const startedAt = performance.now();
    const answer = await fetch(`${url}/v1/tasks`, { method: 'POST', headers, body: '{"title":"beside a backfill"}' });
    await answer.text();
    expect(answer.status).toBe(201);
    times.push(performance.now() - startedAt);
  });
  return times;
}

const isCompleted = async () => (await runOf())?.status === 'completed';

test('workers are killed while a backfill runs under traffic: each record is changed once, and not again', async () => {
  await eventually(() => served.apiUrls.length > 0);
  const idle = await startWorkers([]);
  await eventually(() => idle.places.every(({ current }) => current.isServing), withinMs);
  const calm = await timedRequests(calmMs);
  await idle.close();

  await world.reconfigure({ CORE_BACKFILL_ENABLED: 'true' });
  const product = await startWorkers(deadly);
  const busy: number[] = [];
  let kills = 0;
  try {
    const random = seeded('kills of backfills');
    const killing = (async () => {
      for (; kills < randomKills && !(await isCompleted()); kills++) {
        await pause(1_000 + random.next() * 4_000);
        await random.pick(product.places).current.kill();
      }
    })();
    killing.catch(() => {});
    await eventually(async () => {
      product.refuseCrashes();
      if (await runOf()) busy.push(...(await timedRequests(1_000)));
      return isCompleted();
    }, withinMs);
    await killing;
    const deaths = product.places.reduce((sum, place) => sum + place.deaths, 0) - kills;
    // The third life of a worker is the first that survives; until there is one, every page leads to the next death.
    expect(deaths).toBeGreaterThanOrEqual(2);
    recordTried('kills of workers at a page of a backfill', deaths);
    if (kills > 0) recordTried('kills of workers at any moment of a backfill', kills);

    expect(await runOf()).toEqual({ status: 'completed', examined: rows, changed: rows, failures: null });
    await expectOnce();
    await eventually(async () => (await completedRuns()).length === 2);
    expect((await completedRuns()).toSorted()).toEqual([
      'backfill/billing-emails/1',
      'backfill/followed-memberships/1',
    ]);

    await forgetRuns();
    const run = await asOwner(world, 'select * from backfill_runs order by routine');
    await asOwner(world, `update organization_settings set billing_email = null where billing_email is not null`);
    await Promise.all(product.places.map(({ current }) => current.kill()));
    await eventually(() => product.places.every(({ current }) => current.isServing), withinMs);
    await eventually(
      async () => (await runsOf(world, 'WorkflowType = "runBackfill" AND ExecutionStatus = "Completed"')).length > 0,
    );
    expect(await asOwner(world, 'select * from backfill_runs order by routine')).toEqual(run);
    await expectOnce();
  } finally {
    await product.close();
  }
  const [before, during] = [calm, busy].map((times) => percentile(times, 0.99)) as [number, number];
  // Only a machine of its own tells how much a backfill delays others.
  console.log(
    `p99 of other requests: ${before.toFixed(1)} ms before, ${during.toFixed(1)} ms during a backfill (${(during / before).toFixed(2)} ×)`,
  );
  recordTried('records of a backfill', rows);
  recordTried('requests beside a backfill', busy.length);
});

/** One change in history for each record, and no event about any. */
async function expectOnce(): Promise<void> {
  const changes = await asOwner(
    world,
    `select count(*)::int as changes, count(distinct entity_id)::int as records from history
     where entity_kind = 'organization_setting' and request_id = 'backfill-billing-emails-1'`,
  );
  expect(changes).toEqual([{ changes: rows, records: rows }]);
  const events = await asOwner(world, `select topic from events where request_id like 'backfill-%'`);
  expect(events).toEqual([{ topic: 'backfill_run.completed' }, { topic: 'backfill_run.completed' }]);
}

const ofBackfills = 'WorkflowType = "runBackfillRoutine"';

/** Ten workers have started them; one that continued as new is not completed. */
const completedRuns = async () =>
  (await runsOf(world, `${ofBackfills} AND ExecutionStatus = "Completed"`)).map(({ id }) => id);

/** As Temporal does after the retention of the namespace. */
async function forgetRuns(): Promise<void> {
  const { client } = world.runtime.temporal;
  const query = `WorkflowId STARTS_WITH "${world.name}/backfill"`;
  const found = await Array.fromAsync(client.workflow.list({ query }));
  for (const { workflowId, runId } of found)
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
    });
  await eventually(
    async () =>
      (await runsOf(world, '(WorkflowType = "runBackfill" OR WorkflowType = "runBackfillRoutine")')).length === 0,
  );
}
