// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createAuthorizationActivities } from '#activities/authorization/authorization-activities.ts';
import { group, groupMembership, registry, task } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Tuple } from '#entities/kit/model/tuples.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import {
  reconcileAuthorizationContract,
  type Disagreement,
  type ReconcileInput,
  type ReconciliationCursor,
  type ReconciliationReport,
} from '#workflows/maintenance/reconcile-authorization.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { Random } from '../../kit/random.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let member: Person;
beforeAll(async () => {
  // Nothing is swept or reconciled unless a test says so.
  world = await openWorld({ worker: true, environment: { CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' } });
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
});
afterAll(() => world.close());

function asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  const caller = systemCaller('test', owner.organization.id);
  return world.runtime.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
}

const reconcile = () => runSchedule<ReconciliationReport>(world, 'reconcile-authorization');
const storeOf = ({ runtime: { store } }: Pick<World, 'runtime'>) => store as NonNullable<typeof store>;
const lineOf = ({ object, relation, subject }: Tuple) => `${object} ${relation} ${subject}`;
const inOrder = { notDesired: 0, orphaned: 0, notStored: 0, onlyStored: 0 };

/** Lines about tuples that rows, desired tuples and store disagree about. */
const disagreements = async () =>
  (await verifyInstallation(world.runtime, { isQuiet: false })).filter((line) => line.includes('tuple'));

const rowOf = async ({ object, relation, subject }: Tuple) =>
  (
    await asOwner<{ present: boolean; settled: boolean }>(
      world,
      `select present, applied_version = version as settled from desired_tuples
       where object = $1 and relation = $2 and subject = $3`,
      [object, relation, subject],
    )
  )[0];

const plant = (text: string, { object, relation, subject }: Tuple) => asOwner(world, text, [object, relation, subject]);
const where = 'where object = $1 and relation = $2 and subject = $3';
const settled = 'values ($1, $2, $3, null, true, 1, 1)';

/** A task of the member with its tuple. */
async function owned(): Promise<{ id: string; tuple: Tuple }> {
  const made = await asSystem((data) => data.create(task, { title: 'task', assignerId: member.user.id }));
  await world.runtime.tuples?.apply();
  return { id: made.id, tuple: { object: `task:${made.id}`, relation: 'assigner', subject: `user:${member.user.id}` } };
}

test('tuples that are in order are left alone, and counted', async () => {
  await owned();
  await world.runtime.tuples?.apply();
  const [{ rows, stored } = { rows: 0, stored: 0 }] = await asOwner<{ rows: number; stored: number }>(
    world,
    `select (select count(*)::int from memberships) + (select count(*)::int from tasks) as rows,
       (select count(*)::int from desired_tuples) as stored`,
  );
  const report = await reconcile();
  expect(report).toMatchObject({ repaired: [], counts: inOrder, checked: { desired: stored, stored } });
  expect(report.checked.rows).toBeGreaterThanOrEqual(rows);
});

test('every way to disagree is repaired, named and counted, and the second time nothing is left', async () => {
  const store = storeOf(world);
  const [forgotten, denied, lost, kept] = [await owned(), await owned(), await owned(), await owned()];
  const stray = { ...kept.tuple, relation: 'assignee' };
  const invented = { ...kept.tuple, subject: `user:${owner.user.id}` };
  const takenBack = { ...lost.tuple, subject: `user:${owner.user.id}` };
  await plant(`delete from desired_tuples ${where}`, forgotten.tuple);
  await plant(`update desired_tuples set present = false, version = 2, applied_version = 2 ${where}`, denied.tuple);
  await store.write([], [denied.tuple, lost.tuple]);
  const columns = '(object, relation, subject, organization_id, present, version, applied_version)';
  await plant(`insert into desired_tuples ${columns} ${settled}`, invented);
  await plant(`insert into desired_tuples ${columns} values ($1, $2, $3, null, false, 2, 2)`, takenBack);
  await store.write([invented, takenBack, stray], []);
  // The forgotten one is in the store, too, where nothing desires it.
  expect(await disagreements()).toHaveLength(7);

  const report = await reconcile();
  expect(report.counts).toEqual({ notDesired: 2, orphaned: 1, notStored: 1, onlyStored: 2 });
  const expected: [Tuple, Disagreement][] = [
    [forgotten.tuple, 'notDesired'],
    [denied.tuple, 'notDesired'],
    [invented, 'orphaned'],
    [lost.tuple, 'notStored'],
    [takenBack, 'onlyStored'],
    [stray, 'onlyStored'],
  ];
  expect(new Set(report.repaired)).toEqual(new Set(expected.map(([tuple, was]) => ({ tuple: lineOf(tuple), was }))));

  for (const { tuple } of [forgotten, denied, lost, kept]) {
    expect(await rowOf(tuple)).toEqual({ present: true, settled: true });
    expect(await store.check(tuple)).toBe(true);
  }
  for (const tuple of [stray, invented, takenBack]) {
    expect(await rowOf(tuple)).toEqual({ present: false, settled: true });
    expect(await store.check(tuple)).toBe(false);
  }
  expect(await disagreements()).toEqual([]);
  expect((await reconcile()).counts).toEqual(inOrder);
});

test('what was allowed by a tuple that should not be there is not remembered', async () => {
  const { id } = await asSystem((data) => data.create(task, { title: 'not theirs', assignerId: owner.user.id }));
  const team = await asSystem(async (data) => {
    const made = await data.create(group, { name: `team ${newId()}` });
    await data.create(groupMembership, { groupId: made.id, userId: member.user.id });
    await data.create(registry.byKind('taskShare'), { taskId: id, groupId: made.id, relation: 'viewer' });
    return made.id;
  });
  const client = await signedIn(world, member);
  const edit = async () =>
    (await client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: newId() } })).status;
  expect(await edit()).toBe(403);
  const stray = { object: `task:${id}`, relation: 'editor', subject: `group:${team}#member` };
  await storeOf(world).write([stray], []);
  expect([await edit(), await edit()]).toEqual([200, 200]);
  // From now on only what is remembered would allow it.
  await storeOf(world).write([], [stray]);
  expect(await edit()).toBe(200);
  await storeOf(world).write([stray], []);
  expect((await reconcile()).repaired).toEqual([{ tuple: lineOf(stray), was: 'onlyStored' }]);
  expect(await edit()).toBe(403);
});

test('a run that becomes long hands over to the next one, with what was found', async () => {
  const [lost, other] = [await owned(), await owned()];
  await plant(`delete from desired_tuples ${where}`, lost.tuple);
  await storeOf(world).write([], [other.tuple]);
  const { temporal } = world.runtime;
  const handle = await temporal.client.workflow.start(reconcileAuthorizationContract.name, {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${world.name}/reconcile-by-hand`,
    args: [{ queue: temporal.activityQueue('maintenance'), pagesPerRun: 2 } satisfies ReconcileInput],
  });
  const report = (await handle.result()) as ReconciliationReport;
  expect(report.repaired).toEqual([
    { tuple: lineOf(lost.tuple), was: 'notDesired' },
    { tuple: lineOf(other.tuple), was: 'notStored' },
  ]);
  expect(report.counts).toEqual({ ...inOrder, notDesired: 1, notStored: 1 });
  // What was missing in the store was still on its way when the store was read.
  const { checked } = await reconcile();
  expect(report.checked).toEqual({ ...checked, stored: checked.stored - 1 });
  expect((await handle.describe()).runId).not.toBe(handle.firstExecutionRunId);
});

describe('page by page', () => {
  /** All pages of a size, as the workflow asks for them. */
  async function pages(pageSize: number): Promise<{ repaired: ReconciliationReport['repaired']; count: number }> {
    const { database, store, tuples } = world.runtime;
    const applyTuples = async () => tuples?.apply() ?? 0;
    const activities = createAuthorizationActivities({ database, store, applyTuples, pageSize });
    const repaired: ReconciliationReport['repaired'][number][] = [];
    let cursor: ReconciliationCursor | null | undefined;
    let count = 0;
    do {
      const page = await activities.reconcilePage(cursor ? { cursor } : {});
      repaired.push(...page.repaired);
      cursor = page.next;
      count++;
    } while (cursor);
    return { repaired, count };
  }

  test('small pages find the same', async () => {
    const lost = await Promise.all(Array.from({ length: 7 }, () => owned()));
    for (const { tuple } of lost) await plant(`delete from desired_tuples ${where}`, tuple);
    const { repaired, count } = await pages(2);
    expect(new Set(repaired.map(({ tuple }) => tuple))).toEqual(new Set(lost.map(({ tuple }) => lineOf(tuple))));
    expect(count).toBeGreaterThan(20);
    await world.runtime.tuples?.apply();
    expect(await disagreements()).toEqual([]);
  });

  test('changes at the same time are not taken for mistakes, and none is undone', async () => {
    const random = new Random(inject('seed'));
    const people = [owner, member].map(({ user }) => user.id);
    const { id } = await owned();
    const others = await Promise.all(Array.from({ length: 8 }, () => owned()));
    const end = new AbortController();
    const change = async () => {
      while (!end.signal.aborted) {
        const chosen = random.pick([id, ...others.map((other) => other.id)]);
        await asSystem(async (data) => {
          await data.update(task, chosen, { assigneeId: random.pick([null, ...people]) });
        }).catch((error: { code?: string }) => {
          // Two changes of one record at the same time.
          if (error.code !== 'stale_record') throw error;
        });
      }
    };
    const changing = Promise.all([change(), change(), change()]);
    const found = [];
    try {
      for (let round = 0; round < 4; round++) found.push(...(await pages(3)).repaired);
    } finally {
      end.abort();
      await changing;
    }
    expect(found).toEqual([]);
    await world.runtime.tuples?.apply();
    expect(await disagreements()).toEqual([]);
  });
});
