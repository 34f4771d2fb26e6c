import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { reconcileWork } from '#activities/maintenance/reconcile-work.ts';
import { failingWorkLines } from '#tools/commands/failing-work-lines.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { endFailure, endFailures, noteFailures, unknownFailures } from '#entities/kit/outbox/failing-work.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { runOperatorCommand } from '#tools/commands/operator-commands.ts';
import { readCommand } from '#tools/commands/tool.ts';
import { workTool } from '#tools/commands/work-arguments.ts';
import { runWorkCommand } from '#tools/commands/work-commands.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { enroll, type Authenticator } from '../../kit/identity/authenticator.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { ended, startExport } from '../../kit/events/started-transfers.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const url = '/v1/operations/work';
const minute = 60_000;
const reason = 'the cause is removed';
const logger = pino({ enabled: false });

let world: World;
let operator: Person;
let client: TestClient;
let app: Authenticator;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_INITIALINTERVAL: '100',
      CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_MAXIMUMINTERVAL: '30000',
    },
  });
  operator = await buildPerson(world);
  client = await signedIn(world, operator);
  ({ app } = await enroll(world, client));
  const grant = { name: 'grant', person: operator.user.email, by: 'somebody@machine', reason } as const;
  await runOperatorCommand(grant, { runtime: world.runtime, print: () => {} });
});
afterAll(() => world.close());
afterEach(() => vi.restoreAllMocks());

/** From now on, exports cannot store their documents. */
function breakExports(error: Error) {
  return vi.spyOn(world.runtime.fileReceiver, 'receive').mockRejectedValue(error);
}

const listed = async (query = '') => (await client.get(`${url}?kind=export${query}`)).body.data;

async function command(line: string): Promise<string> {
  const lines: string[] = [];
  await runWorkCommand(readCommand(workTool, line.split(' ')), {
    runtime: world.runtime,
    temporalUi: 'http://temporal.example',
    print: (text) => lines.push(text),
  });
  return lines.join('\n');
}

async function prove(): Promise<void> {
  expect((await client.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
}

test('a programming error ends an export at once, with the id of its request, and is listed until somebody stops it', async () => {
  const receive = breakExports(new TypeError("Cannot read properties of undefined (reading 'x')"));
  const answer = await client.post('/v1/exports', { record_kind: 'task' });
  const requestId = String(answer.headers['x-request-id']);
  const failed = await ended(client, 'exports', answer.body.id);
  expect(failed).toMatchObject({ status: 'failed', error_code: 'internal' });
  expect(failed.error_message).toContain(requestId);
  expect(receive).toHaveBeenCalledTimes(1);
  const [work, ...others] = await eventually(async () => {
    const found = await listed();
    return found.length > 0 && found;
  });
  expect(others).toEqual([]);
  expect(work).toMatchObject({
    kind: 'export',
    status: 'failed',
    organization_id: operator.organization.id,
    record_id: failed.id,
    request_id: requestId,
    attempts: 1,
    error: 'internal: unexpected TypeError; see the log of the worker',
    next_attempt_at: null,
    retry: null,
    workflow_type: 'exportRecords',
    activity: 'storeExport',
  });
  expect(await command('list --kind export')).toContain(`request ${requestId}`);
  expect(await command('list --kind import')).toBe('No work fails or waits.');
  const summary = await failingWorkLines(world.runtime);
  expect(summary.isWell).toBe(false);
  expect(summary.lines).toContain('1 of the kind export fail or wait: npm run work -- list --kind export');
  expect(summary.lines).toContain(`  ${work.id} (failed): ${work.error}`);
  await prove();
  expectProblem(await client.post(`${url}/${work.id}/retry`, { reason }), 'rule_violated');
  expect(await client.post(`${url}/${work.id}/stop`, { reason })).toMatchObject({ status: 202, body: { id: work.id } });
  expect(await listed()).toEqual([]);
  expectProblem(await client.post(`${url}/${work.id}/stop`, { reason }), 'not_found');
  const kept = await asOwner(world, `select operator, reason from event_repairs where repair_id like $1`, [
    `${work.id}/%`,
  ]);
  expect(kept).toEqual([{ operator: `user:${operator.user.id}`, reason }]);
});

test('an activity is listed from its fifth attempt on, can be tried at once, and is listed no more when it has succeeded', async () => {
  const broken = breakExports(new Error('the password is hunter2'));
  const { id } = await startExport(client, { record_kind: 'task' });
  const [work] = await eventually(async () => {
    const found = await listed();
    return found.length > 0 && found;
  });
  expect(work).toMatchObject({ status: 'failing', record_id: id, next_attempt_at: expect.any(String) });
  expect(work.attempts).toBeGreaterThanOrEqual(5);
  expect(work.error).toBe('internal: unexpected Error; see the log of the worker');
  expect(await listed(`&organization_id=${operator.organization.id}`)).toHaveLength(1);
  expect(await listed(`&after=${encodeURIComponent(work.position)}`)).toEqual([]);
  broken.mockRestore();
  await prove();
  const { body } = await client.post(`${url}/${work.id}/retry`, { reason });
  expect(body.done).toContain('The next attempt begins now');
  expect(await listed()).toEqual([]);
  expect(await ended(client, 'exports', id)).toMatchObject({ status: 'completed' });
  expect(await listed()).toEqual([]);
  // The report of an attempt can be written after the end of the run.
  await asOwner(
    world,
    `update failing_work set ended_at = null, status = 'failing', looked_at = looked_at - interval '1 hour' where record_id = $1`,
    [id],
  );
  expect(await listed()).toHaveLength(1);
  const { database, temporal } = world.runtime;
  await reconcileWork({ database, temporal, logger });
  expect(await listed()).toEqual([]);
});

test('whoever stops a failing activity cancels its workflow', async () => {
  breakExports(new Error('broken'));
  const { id } = await startExport(client, { record_kind: 'task' });
  const [work] = await eventually(async () => {
    const found = await listed();
    return found.length > 0 && found;
  });
  expect(await command(`stop ${work.id} --reason enough`)).toBe(
    `${work.id}: Its workflow is cancelled, and it is listed no more.`,
  );
  expect(await ended(client, 'exports', id)).toMatchObject({ status: 'failed' });
});

test('a workflow that was terminated is listed once, begins again, and is listed no more when it has completed', async () => {
  const { runtime, name } = world;
  const deps = { database: runtime.database, temporal: runtime.temporal, logger };
  const handle = await runtime.temporal.client.workflow.start('sweepOutbox', {
    workflowId: `${name}/terminated`,
    taskQueue: `${name}/workflows`,
    args: [{ queue: { ...runtime.temporal.activityQueue('maintenance'), taskQueue: `${name}/nobody` } }],
  });
  await eventually(async () => ((await handle.fetchHistory()).events?.length ?? 0) > 4);
  await handle.terminate('by mistake');
  const all = async () => (await client.get(`${url}?kind=other`)).body.data;
  const [work] = await eventually(async () => {
    await reconcileWork(deps);
    const found = await all();
    return found.length > 0 && found;
  });
  expect(work).toMatchObject({
    status: 'failed',
    error: 'TERMINATED: by mistake',
    activity: null,
    retry: 'Its workflow begins again.',
  });
  await reconcileWork(deps);
  expect(await all()).toHaveLength(1);
  await prove();
  expect((await client.post(`${url}/${work.id}/retry`, { reason })).status).toBe(202);
  expect(await all()).toEqual([]);
  expect((await runtime.temporal.client.workflow.getHandle(`${name}/terminated`).describe()).status.name).toBe(
    'RUNNING',
  );
  await runtime.temporal.client.workflow.getHandle(`${name}/terminated`).cancel();
  await reconcileWork(deps);
  expect(await all()).toEqual([]);
});

test('a workflow whose code fails again and again is listed until somebody terminates it', async () => {
  const { runtime, name } = world;
  const { database, temporal } = runtime;
  // Its code reads properties of an input that is not there.
  const handle = await temporal.client.workflow.start('sweepOutbox', {
    workflowId: `${name}/stuck`,
    taskQueue: `${name}/workflows`,
    args: [],
  });
  const all = async () => {
    await reconcileWork({ database, temporal, logger });
    return (await client.get(`${url}?kind=other`)).body.data;
  };
  const [work] = await eventually(async () => {
    const found = await all();
    return found.length > 0 && found;
  });
  expect(work).toMatchObject({
    status: 'failing',
    workflow_id: `${name}/stuck`,
    workflow_type: 'sweepOutbox',
    activity: null,
    retry: null,
    stop: 'Its workflow is terminated, and it is listed no more.',
  });
  expect(work.error).toContain('category=WorkflowTaskFailed');
  expect(await all()).toHaveLength(1);
  await prove();
  expectProblem(await client.post(`${url}/${work.id}/retry`, { reason }), 'rule_violated');
  expect((await client.post(`${url}/${work.id}/stop`, { reason })).status).toBe(202);
  expect((await handle.describe()).status.name).toBe('TERMINATED');
  expect(await all()).toEqual([]);
});

describe('the list of failing work, after an activity that failed', () => {
  const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);
  const at = (ms: number) => new Date(world.clock.now().getTime() + ms);

  /** A failure of an activity, and one of its whole workflow later in the same run. */
  function failuresOf(run: string) {
    const common = {
      kind: 'other',
      workflowId: run,
      runId: run,
      workflowType: 'sweepOutbox',
      organizationId: null,
      recordId: null,
      requestId: null,
      attempts: 5,
      nextAttemptAt: null,
    } as const;
    const failing = { ...common, key: `${run}/sweep`, activity: 'sweep', status: 'failing', error: 'true' } as const;
    const failed = { ...common, key: run, activity: null, status: 'failed', error: 'FAILED', at: at(minute) } as const;
    return { failing: { ...failing, at: at(-minute) }, failed };
  }
  const rowOf = async (key: string) =>
    (
      await asOwner<{ id: string; error: string }>(world, 'select id, error from failing_work where key = $1', [key])
    )[0];

  test('and succeeded, the run is listed when it fails later; not while it fails, or once an operator has ended it', async () => {
    const { failing, failed } = failuresOf(newId());
    const isUnknown = async () => (await transact((unit) => unknownFailures(unit, [failed]))).length === 1;
    expect(await isUnknown()).toBe(true);
    await transact((unit) => noteFailures(unit, [failing]));
    expect(await isUnknown()).toBe(false);
    await transact((unit) => endFailures(unit, [failing.key]));
    expect(await isUnknown()).toBe(true);
    const { id = '' } = (await rowOf(failing.key)) ?? {};
    await transact((unit) => endFailure(unit, id, true));
    expect(await isUnknown()).toBe(false);
    await transact((unit) => endFailure(unit, id, false));
    expect(await isUnknown()).toBe(true);
  });

  test('the reported error stays when an attempt is guessed to be lost, and only an ended one is replaced', async () => {
    const { failing } = failuresOf(newId());
    const guess = (ms: number) =>
      transact((unit) => noteFailures(unit, [{ ...failing, error: 'lost', at: at(ms) }], true));
    await transact((unit) => noteFailures(unit, [failing]));
    await guess(0);
    expect((await rowOf(failing.key))?.error).toBe('true');
    await transact((unit) => endFailures(unit, [failing.key]));
    await guess(minute);
    expect((await rowOf(failing.key))?.error).toBe('lost');
    await transact((unit) => endFailures(unit, [failing.key]));
  });
});

test('only operators of the installation see failing work, and change it with a recent proof', async () => {
  const other = await signedIn(world, await buildPerson(world));
  expectProblem(await other.get(url), 'permission_denied');
  expectProblem(await other.post(`${url}/work.x/stop`, { reason }), 'permission_denied');
  expectProblem(await client.get(`${url}?after=nowhere`), 'invalid_input');
  await prove();
  expectProblem(await client.post(`${url}/work.x/stop`, { reason }), 'not_found');
  await asOwner(world, `update sessions set proven_at = proven_at - interval '11 minutes' where user_id = $1`, [
    operator.user.id,
  ]);
  for (const verb of ['retry', 'stop'])
    expectProblem(await client.post(`${url}/work.x/${verb}`, { reason }), 'step_up_required');
});

test.each([
  'list x',
  'list --kind y',
  'list --limit 0',
  'retry',
  'retry a',
  'stop a b --reason x',
  'other',
  'list --after x',
])('%s is refused', (line) => expect(() => readCommand(workTool, line.split(' '))).toThrow(Error));
