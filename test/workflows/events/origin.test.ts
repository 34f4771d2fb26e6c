import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { announce, isSettled, storedEvents } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { fragileListener } from '../../kit/events/failing-deliveries.ts';
import { runsOf, waitForRuns, type Run } from '../../kit/runs.ts';
import { openWorld, type World } from '../../kit/world.ts';

const fragile = fragileListener('origin-fragile', 'fragile.happened');

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [fragile],
    environment: { CORE_JOBQUEUE_QUEUECONF_WORKERMIDDLEWARE: 'logging', CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '2' },
  });
});
afterAll(() => world.close());

/** @returns the id of the request */
async function signUp(email: string): Promise<string> {
  const answer = await world.client().post('/v1/register', { email, password: 'correct horse battery' });
  expect(answer.status).toBe(202);
  return answer.headers['x-request-id'] as string;
}

/** Runs of a request, when all of them have ended. */
function endedRuns(requestId: string, count: number): Promise<Run[]> {
  return eventually(async () => {
    const runs = await runsOf(world, `RequestId = "${requestId}"`);
    return runs.length === count && runs.every((run) => run.status === 'COMPLETED') && runs;
  });
}

/** Everything the work lists of itself: the id without what is made by chance. */
const typesOf = (runs: readonly Run[]) => runs.map((run) => run.type).toSorted();

/** Keeps events in their rows meanwhile, so that they leave in one batch. */
async function inOneBatch(work: () => Promise<void>): Promise<void> {
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  await work();
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
}

test('the request id of an answer lists the runs this request caused, and no others', async () => {
  const [first, second] = await Promise.all([signUp('first@example.com'), signUp('second@example.com')]);
  await endedRuns(first, 2);
  const runs = await endedRuns(second, 2);
  expect(typesOf(runs)).toEqual(['deliverEvents', 'sendEmail']);
  const mail = runs.find((run) => run.type === 'sendEmail');
  const event = (await storedEvents(world, 'email_verification.requested')).find((row) => row.requestId === second);
  expect(mail?.id).toBe(`email/${event?.id}/mail-verification`);
  expect(mail?.searchAttributes).toMatchObject({
    RequestId: [second],
    EventTopic: ['email_verification.requested'],
    EntityKind: 'email_verification',
    EntityId: event?.entityId,
  });
});

test('an id that the client chose is the one to search by', async () => {
  const chosen = `chosen-${newId()}`;
  const client = world.client();
  const answer = await client.post(
    '/v1/register',
    { email: 'chosen@example.com', password: 'correct horse battery' },
    { 'x-request-id': chosen },
  );
  expect(answer.headers['x-request-id']).toBe(chosen);
  expect(typesOf(await endedRuns(chosen, 2))).toEqual(['deliverEvents', 'sendEmail']);
});

test('requests whose events share a batch each list the batch and their own work', async () => {
  const ids: string[] = [];
  await inOneBatch(async () => {
    ids.push(...(await Promise.all([signUp('left@example.com'), signUp('right@example.com')])));
  });
  const [left, right] = await Promise.all(ids.map((id) => endedRuns(id, 2)));
  const batchOf = (runs: readonly Run[] | undefined) => runs?.find((run) => run.type === 'deliverEvents');
  expect(batchOf(left)?.id).toBe(batchOf(right)?.id);
  expect(new Set(batchOf(left)?.searchAttributes['RequestId'] as string[])).toEqual(new Set(ids));
  const mailOf = (runs: readonly Run[] | undefined) => runs?.find((run) => run.type === 'sendEmail');
  expect(mailOf(left)?.searchAttributes['RequestId']).toEqual([ids[0]]);
  expect(mailOf(right)?.searchAttributes['RequestId']).toEqual([ids[1]]);
});

test('a failing delivery is listed under the request of its event, and so are its log lines', async () => {
  const entityId = newId();
  fragile.broken.add(entityId);
  const ids: string[] = [];
  await inOneBatch(async () => {
    ids.push(await announce(world, [{ topic: 'fragile.happened', entityId }]));
    ids.push(await announce(world, [{ topic: 'fragile.happened' }]));
  });
  const [broken, whole] = ids as [string, string];
  await waitForRuns(world, `RequestId = "${broken}" AND WorkflowType = "deliverEvent"`, 1);
  expect(await runsOf(world, `RequestId = "${whole}" AND WorkflowType = "deliverEvent"`)).toEqual([]);
  const failures = await eventually(() => {
    const lines = world.logs.filter((line) => String(line['msg']).startsWith('a listener failed'));
    return lines.some((line) => line['msg'] === 'a listener failed again') && lines;
  });
  expect(failures.map((line) => line['request_id'])).toEqual(failures.map(() => broken));
  fragile.broken.delete(entityId);
  await eventually(async () => (await runsOf(world, `EntityId = "${entityId}"`))[0]?.status === 'COMPLETED');
});

test('what an activity logs carries request id and trace of the request it works for', async () => {
  const requestId = await signUp('logged@example.com');
  const mail = (await endedRuns(requestId, 2)).find((run) => run.type === 'sendEmail');
  const lines = world.logs.filter((line) => line['workflow_id'] === `${world.name}/${mail?.id}`);
  expect(lines.map((line) => line['msg'])).toEqual(['activity begins', 'activity ended']);
  const request = await eventually(() =>
    world.logs.find((line) => line['msg'] === 'request' && line['request_id'] === requestId),
  );
  for (const line of lines) {
    expect(line['request_id']).toBe(requestId);
    expect(line['trace_id']).toBe(request['trace_id']);
  }
  await eventually(() => isSettled(world));
});
