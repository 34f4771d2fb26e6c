import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { note, task } from '#entities/index.ts';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { asOwner } from '../kit/as-owner.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { AuthorizationFixtures } from '../kit/records/authorization-fixtures.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { sampleOf } from '../kit/depth.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let other: Person;
let fixtures: AuthorizationFixtures;
let bearer: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  other = await buildPerson(world, { organization: owner.organization, role: 'member' });
  fixtures = new AuthorizationFixtures(world, owner);
  bearer = (await signedIn(world, owner)).cookies.get('access_token') ?? '';
});
afterAll(() => world.close());

/** Where an API process can die around a change that is to be durable, and whether the change is there afterwards. */
const boundaries = {
  'before-commit': false,
  'after-commit': true,
  'tuples-before-write': true,
  'tuples-after-write': true,
} as const satisfies Partial<Record<Failpoint, boolean>>;

interface Change {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** Whether it happened, as the rows say it; it throws when part of it did. */
  readonly isDone: () => Promise<boolean>;
}

/** Changes rows and tuples; a delete takes along what hangs on the records. */
const changes: Readonly<Record<string, () => Promise<Change>>> = {
  create: async () => {
    const title = newId();
    return {
      method: 'POST',
      path: '/v1/tasks',
      body: { title, assignee_id: other.user.id },
      isDone: () => all('select count(*)::int from tasks where title = $1', [title], 1),
    };
  },
  update: async () => {
    const { id } = await fixtures.record('task', 'assigner');
    return {
      method: 'PATCH',
      path: `/v1/tasks/${id}`,
      body: { assignee_id: other.user.id },
      isDone: () => areAssigned([id]),
    };
  },
  delete: async () => {
    const id = await taskWithMore();
    return { method: 'DELETE', path: `/v1/tasks/${id}`, isDone: () => areGone([id]) };
  },
  'create of many': async () => {
    const title = newId();
    const inputs = Array.from({ length: 5 }, () => ({ title, assigneeId: other.user.id }));
    return {
      ...operation('($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id } } }', { inputs }),
      isDone: () => all('select count(*)::int from tasks where title = $1', [title], inputs.length),
    };
  },
  'update of many': async () => {
    const ids = await fiveTimes(async () => (await fixtures.record('task', 'assigner')).id);
    const mutation =
      '($ids: [ID!]!, $input: UpdateTaskInput!) { updateBulkTask(ids: $ids, input: $input) { updatedIds } }';
    return {
      ...operation(mutation, { ids, input: { assigneeId: other.user.id } }),
      isDone: () => areAssigned(ids),
    };
  },
  'delete of many': async () => {
    const ids = await fiveTimes(taskWithMore);
    return {
      ...operation('($ids: [ID!]!) { deleteBulkTask(ids: $ids) { deletedIds } }', { ids }),
      isDone: () => areGone(ids),
    };
  },
};

function operation(mutation: string, variables: object): Pick<Change, 'method' | 'path' | 'body'> {
  return { method: 'POST', path: '/graphql', body: { query: `mutation ${mutation}`, variables } };
}

function fiveTimes(make: () => Promise<string>): Promise<string[]> {
  return Promise.all(Array.from({ length: 5 }, make));
}

/** A task with one below it that has three notes. */
async function taskWithMore(): Promise<string> {
  const { id } = await fixtures.record('task', 'assignee', other.user.id);
  await fixtures.asSystem(async (data) => {
    const below = await data.create(task, { title: 'below', parentId: id });
    for (let count = 0; count < 3; count++) await data.create(note, { text: 'note', taskId: below.id });
  });
  return id;
}

function areAssigned(ids: readonly string[]): Promise<boolean> {
  return all('select count(assignee_id)::int from tasks where id = any($1)', [ids], ids.length);
}

/** Whether the tasks are, with what hangs on them. */
function areGone(ids: readonly string[]): Promise<boolean> {
  return all(
    `with gone as (select id, deleted_at from tasks where id = any($1) or parent_id = any($1))
     select (select count(deleted_at) from gone)::int
       + (select count(deleted_at) from notes where task_id in (select id from gone))::int`,
    [ids],
    ids.length * 5,
  );
}

/** @returns whether all of so many rows are there; none is the only other possibility */
async function all(text: string, values: readonly unknown[], count: number): Promise<boolean> {
  const [row] = await asOwner<Record<string, number>>(world, text, values);
  const found = Object.values(row ?? {})[0];
  expect([0, count]).toContain(found);
  return found === count;
}

/** Every change, and every boundary around one and around many. */
const tried = sampleOf(
  'record changes',
  Object.keys(changes).flatMap((change) => Object.keys(boundaries).map((point) => ({ change, point }))),
  { by: [({ change }) => change, ({ change, point }) => `${point} ${change.includes('many')}`] },
);

describe.each(Object.entries(changes))('%s', (name, prepare) => {
  const points = Object.entries(boundaries).filter(([point]) =>
    tried.some((one) => one.change === name && one.point === point),
  );
  const cases = new Map<string, { readonly change: Change; readonly api: ProductProcess }>();
  // Starting takes longer than all else, so that is done beside each other; the changes are made in turn.
  beforeAll(async () => {
    const prepared = await Promise.all(points.map(async ([point]) => ({ point, change: await prepare() })));
    for (const { point, change } of prepared) cases.set(point, { change, api: apiThatDiesAt(point) });
    await Promise.all([...cases.values()].map(({ api }) => api.ready));
  });
  afterAll(() => Promise.all([...cases.values()].map(({ api }) => api.kill())));

  test.each(points)('the API dies at %s', async (point, isThere) => {
    const { change, api } = cases.get(point) ?? expect.unreachable(point);
    const url = await eventually(() => api.url || undefined);
    // What earlier cases left behind: it is to die over tuples of its own change.
    await world.runtime.tuples?.apply();
    const { method, path, body, isDone } = change;
    const asked = fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // Behind the commit the answer may leave just before.
    const answer = await asked.then(
      (response) => response.text(),
      () => undefined,
    );
    if (answer !== undefined) expect(isThere, answer).toBe(true);
    expect(await api.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(await isDone()).toBe(isThere);
    recordTried('kills around a change', 1);
  });
});

function apiThatDiesAt(point: string): ProductProcess {
  return new ProductProcess({
    program: 'api/api-main.ts',
    environment: {
      ...world.environment,
      STACK_STATE_DIR: dirname(world.mailFolder),
      FAILPOINTS: `${point}=kill@0`,
      // Tuples of one change reach the store in several writes, and it dies around the first.
      CORE_AUTHZ_MAXBATCHWRITESIZE: '2',
    },
  });
}

test('rows, history, events, tuples and the authorization store agree afterwards', async () => {
  await world.startWorker();
  await world.runtime.tuples?.apply();
  await eventually(() => isSettled(world));
  // What died around its tuples left them to the next process.
  await eventually(async () => {
    const lines = await verifyInstallation(world.runtime, { isQuiet: true });
    if (lines.length > 0) throw new Error(lines.join('\n'));
    return true;
  });
});
