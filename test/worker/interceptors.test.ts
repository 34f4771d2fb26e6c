import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { waitForRuns } from '../kit/runs.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

type List = 'PLUGINS' | 'MIDDLEWARE' | 'JOBINSERTMIDDLEWARE' | 'WORKERMIDDLEWARE' | 'HOOKS';

/** What is logged of the start of a mail's workflow and of its activity, with these lists naming `logging`. */
async function loggedWith(lists: readonly List[]): Promise<string[]> {
  const instance = await world.openInstance({
    environment: Object.fromEntries(lists.map((list) => [`CORE_JOBQUEUE_QUEUECONF_${list}`, 'logging'])),
  });
  const worker = await instance.startWorker();
  const email = `logged-${newId().toLowerCase()}@example.com`;
  const answer = await instance.client().post('/v1/register', { email, password: 'correct horse battery' });
  await waitForMails(world, email);
  const requestId = String(answer.headers['x-request-id']);
  await waitForRuns(world, `RequestId = "${requestId}" AND ExecutionStatus = "Completed"`, 2);
  await eventually(() => isSettled(world));
  await worker.stop();
  const layers = world.logs.filter((line) => line['request_id'] === requestId && 'layer' in line);
  const told = (kind: string) =>
    layers
      .map((line) => `${String(line['layer'])}: ${String(line['job'])} ${String(line['msg'])}`)
      .filter((line) => line.includes(` ${kind} `));
  // An activity may begin before whoever started the workflow has heard that it did.
  return [...told('start'), ...told('activity')];
}

/** Begin and end, as they are logged around a job by these lists, the outermost first. */
const around = (job: string, kind: string, layers: readonly string[]) => [
  ...layers.map((layer) => `${layer}: ${job} ${kind} begins`),
  ...layers.toReversed().map((layer) => `${layer}: ${job} ${kind} ended`),
];

test('interceptors stand within each other in the order of their lists, which belong to starts, activities or both', async () => {
  const logged = await loggedWith(['HOOKS', 'WORKERMIDDLEWARE', 'JOBINSERTMIDDLEWARE', 'MIDDLEWARE', 'PLUGINS']);
  expect(logged).toEqual([
    ...around('sendEmail', 'start', ['Plugins', 'Middleware', 'JobInsertMiddleware']),
    ...around('deliverEmail', 'activity', ['Plugins', 'Middleware', 'WorkerMiddleware', 'Hooks']),
  ]);
});
