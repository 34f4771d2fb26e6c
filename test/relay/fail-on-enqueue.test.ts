// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { tag, task } from '#entities/index.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { callerOf } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { WorkContext } from '#entities/kit/model/work-context.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { newRows, type NewRow } from '#entities/kit/write/creations.ts';
import { asOwner } from '../kit/as-owner.ts';
import { storedEvents } from '../kit/events/event-fixtures.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { shows } from '../kit/shows.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
beforeAll(async () => {
  // Events are made impossible to write, so changes have none.
  world = await openWorld({ skipVerify: true });
  await asOwner(world, `alter table events add constraint unwritable check (topic not like 'email_verification.%')`);
  owner = await buildPerson(world);
});
afterAll(() => world.close());

const signUp = (email: string) =>
  world.client().post('/v1/register', { email, password: 'correct horse battery staple' });
const signUps = (email: string) => asOwner(world, 'select 1 from email_verifications where email = $1', [email]);

test('dispatch.failonenqueueerror on: a request whose events cannot be written fails and leaves nothing', async () => {
  const answer = await signUp('lost@example.com');
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await signUps('lost@example.com')).toEqual([]);
});

test('off: the request goes on without them, with its history, and the log says so', async () => {
  shows('workflows.dispatch.failonenqueueerror');
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_FAILONENQUEUEERROR: 'false' });
  const answer = await signUp('kept@example.com');
  expect(answer.status).toBe(202);
  expect(await signUps('kept@example.com')).toHaveLength(1);
  expect(
    await asOwner(world, 'select 1 from history where request_id = $1', [answer.headers['x-request-id']]),
  ).not.toEqual([]);
  expect((await storedEvents(world, 'email_verification.%')).length).toBe(0);
  expect(world.logs.some((line) => String(line['msg']).includes('the change is kept without them'))).toBe(true);
});

const context = (): WorkContext => ({
  caller: callerOf({
    kind: 'user',
    subjectId: owner.user.id,
    organizationId: owner.organization.id,
    role: 'owner',
  }),
  requestId: newId(),
});

/** A row as the data client makes it, which is written without its checks, as if another request had come between. */
function rowOf(module: EntityModule, input: Readonly<Record<string, unknown>>): NewRow {
  const { caller } = context();
  const values = { organizationId: owner.organization.id, ...input };
  const [row] = newRows([{ module, input: values, path: '' }], {
    caller,
    actor: `user:${owner.user.id}`,
    at: new Date(),
    known: [],
  });
  if (!row) throw new Error('one creation is one row');
  return row;
}

const freeTag = () => rowOf(tag, { name: newId() });
const freeTask = () => rowOf(task, { title: 'free' });
const takenTag = () => rowOf(tag, { name: 'taken' });
const takenTask = () => rowOf(task, { title: 'taken', externalId: 'taken' });

/** Changes a record that somebody else has changed since it was read. */
async function updateStale(unit: UnitOfWork): Promise<void> {
  const stored = await unit.data.findOne(task, { externalId: { eq: 'taken' } });
  const stamp = { at: new Date(), actor: `user:${owner.user.id}` };
  await unit.update('app', task, { ...stored, recordVersion: 7 }, { values: { title: 'stale' }, stamp });
}

/** The deadline of the work passes when its first statement is sent. */
function endingAtOnce(work: WorkContext): WorkContext {
  const deadline = Date.now() + 60_000;
  return Object.defineProperty({ ...work, deadline }, 'traceparent', {
    get: () => {
      vi.spyOn(Date, 'now').mockReturnValue(deadline + 1);
      return undefined;
    },
  });
}

interface Failing {
  readonly name: string;
  readonly rows: () => readonly NewRow[];
  readonly code: ErrorCode;
  readonly withStaleUpdate?: true;
  readonly isLate?: true;
}

const failing: readonly Failing[] = [
  { name: 'a unique conflict', rows: () => [takenTag()], code: 'already_exists' },
  { name: 'a foreign key', rows: () => [rowOf(task, { title: 'x', parentId: newId() })], code: 'still_referenced' },
  // Whatever the order of the kinds, the second insert fails in one case, and the first one in the other.
  { name: 'a conflict of tags, with a task', rows: () => [freeTask(), takenTag()], code: 'already_exists' },
  { name: 'a conflict of tasks, with a tag', rows: () => [freeTag(), takenTask()], code: 'already_exists' },
  { name: 'a stale update', rows: () => [freeTag()], withStaleUpdate: true, code: 'stale_record' },
  { name: 'a conflict and a stale update', rows: () => [takenTag()], withStaleUpdate: true, code: 'already_exists' },
  { name: 'a deadline before the records', rows: () => [freeTask()], isLate: true, code: 'deadline_exceeded' },
];

describe.each(['true', 'false'])('an insert in a flush that fails, dispatch.failonenqueueerror %s', (isOn) => {
  beforeAll(async () => {
    await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_FAILONENQUEUEERROR: isOn });
    await world.runtime.database.transact(context(), async ({ data }) => {
      if (await data.findOne(tag, { name: { eq: 'taken' } })) return;
      await data.create(tag, { name: 'taken' });
      await data.create(task, { title: 'first', externalId: 'taken' });
    });
  });

  test.each(failing)('$name: $code, and nothing is left', async ({ rows, code, withStaleUpdate, isLate }) => {
    const inserted = rows();
    const work = isLate ? endingAtOnce(context()) : context();
    const logged = world.logs.length;
    const transacted = world.runtime.database.transact(work, async (unit) => {
      if (withStaleUpdate) await updateStale(unit);
      await unit.insert('app', inserted);
    });
    try {
      await expect(transacted).rejects.toMatchObject({ code });
      expect(vi.isMockFunction(Date.now)).toBe(isLate ?? false);
    } finally {
      vi.restoreAllMocks();
    }
    const ids = inserted.map(({ row }) => row['id']);
    for (const table of ['tags', 'tasks', 'record_kinds'])
      expect(await asOwner(world, `select * from ${table} where id = any($1)`, [ids])).toEqual([]);
    for (const table of ['history', 'events'])
      expect(await asOwner(world, `select * from ${table} where request_id = $1`, [work.requestId])).toEqual([]);
    expect(await asOwner(world, `select 1 from tasks where title = 'stale'`)).toEqual([]);
    const failures = world.logs.slice(logged).map(({ msg }) => String(msg));
    expect(failures.filter((msg) => /^failed: (?:recording|rollback)/.test(msg))).toEqual([]);
  });
});
