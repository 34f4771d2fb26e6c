import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { note, task } from '#entities/index.ts';
import type { Failpoint } from '#entities/kit/failpoint.ts';
import { newId } from '#entities/kit/ids.ts';
import { verifyInstallation } from '#relay/verify.ts';
import { asOwner } from '../kit/as-owner.ts';
import { isSettled } from '../kit/events.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { RightsStage } from '../kit/rights-stage.ts';
import { ServerProcess } from '../kit/server-process.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let other: Person;
let stage: RightsStage;
let bearer: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  other = await buildPerson(world, { organization: owner.organization, role: 'member' });
  stage = new RightsStage(world, owner);
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

/** Changes rows and tuples; a delete takes along what hangs on the record. */
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
    const { id } = await stage.prop('task', 'assigner');
    return {
      method: 'PATCH',
      path: `/v1/tasks/${id}`,
      body: { assignee_id: other.user.id },
      isDone: () => all('select count(assignee_id)::int from tasks where id = $1', [id], 1),
    };
  },
  delete: async () => {
    const { id: parentId } = await stage.prop('task', 'assignee', other.user.id);
    await stage.asSystem(async (data) => {
      const below = await data.create(task, { title: 'below', parentId });
      for (let count = 0; count < 3; count++) await data.create(note, { text: 'note', taskId: below.id });
    });
    return {
      method: 'DELETE',
      path: `/v1/tasks/${parentId}`,
      isDone: () =>
        all(
          `with gone as (select id, deleted_at from tasks where id = $1 or parent_id = $1)
           select (select count(deleted_at) from gone)::int
             + (select count(deleted_at) from notes where task_id in (select id from gone))::int`,
          [parentId],
          5,
        ),
    };
  },
};

/** @returns whether all of so many rows are there; none is the only other possibility */
async function all(text: string, values: readonly string[], count: number): Promise<boolean> {
  const [row] = await asOwner<Record<string, number>>(world, text, [...values]);
  const found = Object.values(row ?? {})[0];
  expect([0, count]).toContain(found);
  return found === count;
}

describe.each(Object.entries(changes))('%s', (_name, prepare) => {
  test.each(Object.entries(boundaries))('the API dies at %s', async (point, isThere) => {
    const { method, path, body, isDone } = await prepare();
    const api = new ServerProcess({
      program: 'api/main.ts',
      environment: { ...world.environment, STACK_STATE_DIR: dirname(world.mailFolder), FAILPOINTS: `${point}=kill@0` },
    });
    await api.ready;
    const url = await eventually(() => api.url || undefined);
    const asked = fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // Behind the commit the answer may leave just before.
    const isAnswered = await asked.then(
      () => true,
      () => false,
    );
    if (isAnswered) expect(isThere).toBe(true);
    expect(await api.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(await isDone()).toBe(isThere);
  });
});

test('rows, history, events, tuples and the authorization store agree afterwards', async () => {
  await world.startWorker();
  await world.backbone.tuples?.apply();
  await eventually(() => isSettled(world), 30_000);
  expect(await verifyInstallation(world.backbone, { isQuiet: true })).toEqual([]);
});
