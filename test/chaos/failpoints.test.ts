import { afterAll, beforeAll, expect, test } from 'vitest';
import { failpoints, type Failpoint } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../kit/as-owner.ts';
import { timesOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcesses, type Life, type Program } from '../kit/processes/product-processes.ts';
import { runsOf } from '../kit/runs.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';
import { expectExactlyOnce } from './recovery-checks.ts';
import { Visitors } from './traffic.ts';
import { fileFailpoints, type FileFailpoint } from './file-failpoints.ts';

const api = 'api/api-main.ts' satisfies Program;
const worker = 'test/chaos/waking-worker.ts' satisfies Program;

/** The processes that die at a failpoint, with the passes they survive. A new failpoint has to be entered here. */
const mortals: Readonly<Record<Failpoint, Readonly<Partial<Record<Program, number>>>>> = {
  // A worker commits without anything to do, too.
  // Those at which bytes are stored are in killed-file-work.test.ts.
  'before-commit': { [api]: 0, [worker]: 4 },
  'after-commit': { [api]: 0, [worker]: 4 },
  // There is no second database here: two-databases.test.ts has one.
  'commit-prepared': {},
  'commit-decided': {},
  'relay-claimed': { [worker]: 0 },
  'relay-started': { [worker]: 0 },
  'delivery-before-commit': { [worker]: 0 },
  'delivery-after-commit': { [worker]: 0 },
  'delivery-before-settle': { [worker]: 0 },
  'delivery-after-settle': { [worker]: 0 },
  'email-before-send': { [worker]: 0 },
  'email-before-write': { [worker]: 0 },
  'email-after-write': { [worker]: 0 },
  'email-accepted': { [worker]: 0 },
  'tuples-before-write': { [api]: 0 },
  'tuples-after-write': { [api]: 0 },
  'wake-before-signal': { [worker]: 0 },
  'wake-after-signal': { [worker]: 0 },
  // Those of due work are in killed-due-work.test.ts, for each queue.
  'work-begun': {},
  // Those of exports and imports are in killed-transfers.test.ts.
  'export-page-kept': {},
  'export-stored': {},
  'import-page-written': {},
  // Those of messages to endpoints are in killed-webhooks.test.ts.
  'webhook-claimed': {},
  'webhook-sent': {},
  'webhook-settled': {},
  // Those of billing are in killed-billing.test.ts.
  'billing-drawn': {},
  'billing-customer-created': {},
  'billing-trial-started': {},
  'billing-read': {},
  'billing-written': {},
  'billing-cancelled': {},
  // Those of backfills are in killed-backfills.test.ts.
  'backfill-written': {},
  'backfill-committed': {},
  // Those of system messages and of notifications are in killed-notifications.test.ts.
  'chat-posted': {},
  'notifications-claimed': {},
  // That of sweeps is in killed-deletions.test.ts.
  'sweep-acted': {},
  // Those of instances of workflow definitions are in killed-instances.test.ts.
  'instance-step-before-commit': {},
  'instance-step-after-commit': {},
  // Those of integrations are in killed-integrations.test.ts.
  'integration-credential-renewed': {},
  'integration-page-read': {},
  'integration-operation-performed': {},
  'integration-page-taken': {},
  'integration-records-removed': {},
  ...(Object.fromEntries(fileFailpoints.map(({ failpoint }) => [failpoint, {}])) as Record<FileFailpoint, object>),
};

/** How often each process dies at each of its failpoints. */
const rounds = timesOf({ sample: 1, prove: 5 });

/** Lives of a program that end at one failpoint after the other. */
const livesOf = (program: Program): Life[] =>
  Array.from({ length: rounds }, () => failpoints)
    .flat()
    .flatMap((name) => {
      const passes = mortals[name][program];
      return passes === undefined ? [] : [{ FAILPOINTS: `${name}=kill@${passes}` }];
    });
const lives = { [api]: livesOf(api), [worker]: livesOf(worker) };

let world: World;
let product: ProductProcesses;
beforeAll(async () => {
  world = await openWorld();
  // While one worker starts, the other one works.
  product = await ProductProcesses.start(world, [api, worker, worker], lives);
});
afterAll(async () => {
  await product.close();
  await world.close();
});

/** Each of these organizations has woken a workflow (waking-worker.ts), and no wake is left. */
async function expectWoken(names: readonly string[]): Promise<void> {
  const created = await asOwner<{ id: string }>(world, 'select id from organizations where name = any($1)', [names]);
  await eventually(async () => (await asOwner(world, 'select 1 from workflow_wakes')).length === 0);
  await eventually(async () => {
    const woken = new Set((await runsOf(world, 'WorkflowType = "deliverToEndpoint"')).map(({ id }) => id));
    return created.every(({ id }) => woken.has(`webhook/${id}`));
  });
  recordTried('workflows that were woken', created.length);
}

test('killed at every failpoint: what was committed happens once', async () => {
  expect(lives[api].length + lives[worker].length).toBeGreaterThanOrEqual(
    Object.values(mortals).filter((programs) => Object.keys(programs).length > 0).length,
  );
  const traffic = await Visitors.of(world, { urls: () => product.apiUrls });
  const end = new AbortController();
  // Processes start most of the time, and more visitors would keep them from it.
  const visits = traffic.repeat(end.signal, () => traffic.visit(), 500);
  visits.catch(() => {});
  try {
    // Nobody else kills them, so each has been where it was to die.
    for (const place of product.places) await Promise.race([place.untilFirstLivesEnded(), visits]);
  } finally {
    end.abort();
  }
  await visits;
  await expectExactlyOnce(world, traffic);
  await expectWoken(traffic.created);
  product.refuseCrashes();
  for (const { program, deaths } of product.places) recordTried(`kills of ${program} at a failpoint`, deaths);
});
