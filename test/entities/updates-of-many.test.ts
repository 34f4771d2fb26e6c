import { afterAll, beforeAll, expect, test } from 'vitest';
import { task } from '#entities/index.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asPerson, asSystem } from '../kit/as-person.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
});
afterAll(() => world.close());

const tasksOf = (person: Person, titles: readonly string[]) =>
  asPerson(world, person, owner.organization.id, (data) =>
    data.createAll(titles.map((title) => ({ module: task, input: { title, priority: 1 }, path: '' }))),
  ).then((rows) => rows.map(({ id }) => id as string));

const read = (ids: readonly string[]) =>
  asSystem(world, owner.organization.id, (data) =>
    data.find(task, { where: { id: { in: ids } }, orderBy: [{ field: 'id', direction: 'asc' }], limit: 1_000 }),
  );

test('many records get values of their own, and keep those that only others get', async () => {
  const [one, two, three] = (await tasksOf(owner, ['one', 'two', 'three'])) as [string, string, string];
  const dueAt = new Date('2027-01-31T10:00:00Z');
  const result = await asPerson(world, owner, owner.organization.id, (data) =>
    data.updateEach(task, [
      { id: three, values: { title: 'changed', metadata: { a: [1] } } },
      { id: one, values: { priority: 7, dueAt } },
      { id: two, values: { priority: 1 } },
    ]),
  );
  expect(result).toEqual({ changed: [three, one, two], refused: [] });
  expect(await read([one, two, three])).toMatchObject([
    { title: 'one', priority: 7, dueAt, recordVersion: 2 },
    { title: 'two', priority: 1, recordVersion: 1 },
    { title: 'changed', priority: 1, dueAt: null, metadata: { a: [1] }, recordVersion: 2 },
  ]);
  const history = await asOwner<{ entity_id: string; changed_fields: string[]; snapshot: { title: string } }>(
    world,
    `select entity_id, changed_fields, snapshot from history where entity_id = any($1) and operation = 'updated' order by entity_id`,
    [[one, two, three]],
  );
  expect(history.map((entry) => [entry.entity_id, entry.changed_fields.toSorted(), entry.snapshot.title])).toEqual([
    [one, ['dueAt', 'priority'], 'one'],
    [three, ['metadata', 'title'], 'changed'],
  ]);
  const events = await asOwner<{ entity_id: string }>(
    world,
    `select entity_id from events where entity_id = any($1) and topic = 'task.updated' order by entity_id`,
    [[one, two, three]],
  );
  expect(events.map(({ entity_id: id }) => id)).toEqual([one, three]);
});

test('records that the caller may not change are refused by name, and the others are changed', async () => {
  const stranger = await buildPerson(world);
  const [own] = (await tasksOf(owner, ['own'])) as [string];
  const foreign = await asPerson(world, stranger, stranger.organization.id, (data) =>
    data.create(task, { title: 'foreign' }),
  );
  const result = await asPerson(world, owner, owner.organization.id, (data) =>
    data.updateEach(task, [
      { id: foreign.id, values: { title: 'taken' } },
      { id: own, values: { title: 'kept' } },
      { id: 'no id', values: { title: 'x' } },
    ]),
  );
  expect(result).toMatchObject({
    changed: [own],
    refused: [
      { id: foreign.id, code: 'not_found' },
      { id: 'no id', code: 'not_found' },
    ],
  });
  expect((await read([own]))[0]).toMatchObject({ title: 'kept' });
});

test('wrong values, a record named twice and too many records change nothing', async () => {
  const ids = await tasksOf(owner, ['first', 'second']);
  const change = (changes: readonly { readonly id: string; readonly values: object }[]) =>
    asPerson(world, owner, owner.organization.id, async (data) => data.updateEach(task, changes));
  const [first, second] = ids as [string, string];
  await expect(
    change([
      { id: first, values: { title: 'new' } },
      { id: second, values: { priority: 'high' } },
    ]),
  ).rejects.toMatchObject({
    code: 'invalid_input',
  });
  await expect(change([first, first].map((id) => ({ id, values: { title: 'new' } })))).rejects.toThrow(TypeError);
  await expect(
    change(Array.from({ length: 1_001 }, (_none, index) => ({ id: String(index), values: { title: 'new' } }))),
  ).rejects.toMatchObject({ code: 'limit_exceeded' });
  expect((await read(ids)).map(({ title }) => title)).toEqual(['first', 'second']);
});

test('concurrent changes of the same records in other orders do not wait for each other in a circle', async () => {
  const ids = await tasksOf(
    owner,
    Array.from({ length: 20 }, (_none, index) => `shared ${index}`),
  );
  await Promise.all(
    [ids, ids.toReversed(), ids, ids.toReversed()].map((order, round) =>
      asPerson(world, owner, owner.organization.id, (data) =>
        data.updateEach(
          task,
          order.map((id) => ({ id, values: { title: `round ${round}` } })),
        ),
      ),
    ),
  );
  const rows = await read(ids);
  expect(new Set(rows.map(({ title }) => title)).size).toBe(1);
  expect(rows.every(({ recordVersion }) => recordVersion === 5)).toBe(true);
});
