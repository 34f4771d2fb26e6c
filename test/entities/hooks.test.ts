import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { note, organization, task, user } from '#entities/index.ts';
import type { RecordChange } from '#entities/kit/model/record-change.ts';
import { callerOf } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { defineEntityModule, type EntityModule } from '#entities/kit/model/define.ts';
import { reference, text } from '#entities/kit/model/fields.ts';
import { withDerivedValues } from '#entities/kit/write/run-hooks.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { allow, anyone } from '#entities/kit/model/policy.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { openRuntime, type CoreRuntime } from '#runtime/core-runtime.ts';
import { transactAs } from '../kit/as-person.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asPerson } from '../kit/as-person.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

const told: RecordChange[] = [];
let failure: Error | undefined;
let pending: (() => Promise<void>) | undefined;

const memo = defineEntityModule({
  kind: 'testMemo',
  table: 'test_memos',
  description: 'A kind that wants to know what was committed.',
  fields: { name: text('Name.', { max: 40, exposed: 'read-write', lists: ['filter'] }) },
  tenancy: 'organization',
  policy: { view: [allow(anyone)], create: [allow(anyone)], edit: [allow(anyone)], remove: [allow(anyone)] },
  mutate: ['create', 'update', 'delete'],
  events: [],
  hooks: {
    afterCommit: (changes) => {
      told.push(...changes);
      if (failure) throw failure;
      return pending?.();
    },
  },
});

let world: World;
let person: Person;
let runtime: CoreRuntime;
const logged: string[] = [];

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  await asOwner(
    world,
    `create table test_memos (id text primary key, created_at timestamptz not null, updated_at timestamptz not null,
       created_by text not null, updated_by text not null, record_version integer not null, deleted_at timestamptz,
       deleted_by text, organization_id text not null, name text not null);
     grant select, insert, update on test_memos to core_app`,
  );
  runtime = await openRuntime({
    config: world.config,
    temporalEnvironment: {},
    stateFolder: 'unused',
    logger: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
    process: 'core api',
    registry: createRegistry([user, organization, memo]),
  });
});
afterAll(async () => {
  await runtime.close();
  await world.close();
});

function as<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  const organizationId = person.organization.id;
  const caller = callerOf({ kind: 'user', subjectId: person.user.id, organizationId, role: 'owner' });
  return transactAs(runtime, caller, ({ data }) => work(data));
}

describe('hooks after the commit', () => {
  beforeEach(() => {
    told.length = 0;
    failure = undefined;
  });

  test('afterCommit is called for single and bulk changes, and not before the commit', async () => {
    const { id } = await as(async (data) => {
      const made = await data.create(memo, { name: 'a' });
      await data.find(memo, { limit: 100 });
      expect(told).toEqual([]);
      return made;
    });
    await as((data) => data.update(memo, id, { name: 'b' }));
    await as((data) => data.updateAll(memo, [id], { name: 'c' }));
    await as((data) => data.removeAll(memo, [id]));
    expect(told.map(({ operation, after }) => [operation, after['name']])).toEqual([
      ['created', 'a'],
      ['updated', 'b'],
      ['updated', 'c'],
      ['deleted', 'c'],
    ]);
  });

  test('afterCommit is not called after a rollback', async () => {
    const refused = as(async (data) => {
      await data.create(memo, { name: 'a' });
      await data.find(memo, { limit: 100 });
      throw new Error('no');
    });
    await expect(refused).rejects.toThrow('no');
    expect(told).toEqual([]);
  });

  test.each(['thrown', 'rejected'])('an error that is %s is logged, and the change stands', async (how) => {
    const error = new Error(`the cache is away, ${how}`);
    if (how === 'thrown') failure = error;
    else pending = () => Promise.reject(error);
    const { id } = await as((data) => data.create(memo, { name: 'a' }));
    failure = undefined;
    pending = undefined;
    expect(await as((data) => data.get(memo, id))).toMatchObject({ name: 'a' });
    await eventually(() => logged.join('').includes(`the cache is away, ${how}`));
  });

  test('nothing waits for a hook that does not end', async () => {
    pending = () => new Promise(() => {});
    const { id } = await as((data) => data.create(memo, { name: 'a' }));
    pending = undefined;
    expect(await as((data) => data.get(memo, id))).toMatchObject({ name: 'a' });
  });
});

describe('derivedValues', () => {
  const act = <T>(work: (data: DataClient) => Promise<T>) => asPerson(world, person, person.organization.id, work);

  test('a note is marked as edited with its first change, and not before', async () => {
    const { id } = await act((data) => data.create(note, { text: 'a' }));
    expect(await act((data) => data.update(note, id, { text: 'a' }))).toMatchObject({ isEdited: false });
    expect(await act((data) => data.update(note, id, { text: 'b' }))).toMatchObject({ isEdited: true });
    const [entry] = await asOwner<{ changed: string[] }>(
      world,
      `select changed_fields as changed from history where entity_id = $1 and operation = 'updated'`,
      [id],
    );
    expect(entry?.changed.toSorted()).toEqual(['isEdited', 'text']);
  });

  test('a task tells when it was completed, also one of many, and of one that was so already it stays', async () => {
    const [done, open] = await act(async (data) => [
      await data.create(task, { title: 'done', status: 'completed', completedAt: new Date('2020-01-01') }),
      await data.create(task, { title: 'open' }),
    ]);
    if (!done || !open) throw new Error('two were made');
    expect(open).toMatchObject({ completedAt: null });
    await act((data) => data.updateAll(task, [done.id, open.id], { status: 'completed', title: 'both' }));
    const after = async (id: string) => (await act((data) => data.get(task, id))).completedAt;
    expect(await after(done.id)).toEqual(new Date('2020-01-01'));
    expect(await after(open.id)).toBeInstanceOf(Date);
    await act((data) => data.update(task, open.id, { status: 'open' }));
    expect(await after(open.id)).toBeNull();
    await act((data) => data.update(task, open.id, { status: 'completed', completedAt: new Date('2021-01-01') }));
    expect(await after(open.id)).toEqual(new Date('2021-01-01'));
  });

  test('what the person said about that stays as it was said', async () => {
    const at = new Date('2022-01-01');
    const made = await act((data) => data.create(task, { title: 'a', status: 'completed', completedAt: null }));
    expect(made).toMatchObject({ completedAt: null });
    const change = (changes: object) => act((data) => data.update(task, made.id, changes));
    expect(await change({ completedAt: at })).toMatchObject({ completedAt: at });
    // Also when it is there already.
    expect(await change({ status: 'open' })).toMatchObject({ status: 'open', completedAt: null });
    expect(await change({ status: 'completed', completedAt: null })).toMatchObject({ completedAt: null });
  });

  test.each([
    ['a reference', 'homeId', newId()],
    ['a value that does not fit', 'name', 'x'.repeat(41)],
    ['what is no field', 'colour', 'red'],
  ])('a hook that gives %s is an error of the release', (_what, name, value) => {
    const kind: EntityModule = {
      ...memo,
      fields: { ...memo.fields, homeId: reference('organization', 'Where.', { optional: true }) },
      hooks: { derivedValues: () => ({ [name]: value }) },
    };
    const write = () => withDerivedValues(kind, { name: 'a' }, {}, { operation: 'update', at: new Date() });
    expect(write).toThrow(`entity "testMemo": derivedValues returns "${name}"`);
  });
});
