import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { organization, registry as productRegistry, user } from '#entities/index.ts';
import { callerOf } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { defineEntityModule } from '#entities/kit/model/define.ts';
import { text } from '#entities/kit/model/fields.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { kindsWithoutRules } from '#entities/kit/model/checks/kinds-without-rules.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { openRuntime, type CoreRuntime } from '#runtime/core-runtime.ts';
import { transactAs } from '../kit/as-person.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

const draft = defineEntityModule({
  kind: 'testDraft',
  table: 'test_drafts',
  description: 'A kind whose author has not thought of rules yet.',
  fields: { name: text('Name.', { max: 40, exposed: 'read-write', lists: ['filter'] }) },
  tenancy: 'organization',
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});

const registry = createRegistry([user, organization, draft]);

let world: World;
let person: Person;
let held: string;
/** What a process has that brings this kind; each opens one when it starts. */
let runtime: CoreRuntime;
const warnings: { readonly level: number; readonly kinds?: readonly string[] }[] = [];

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  held = newId();
  await asOwner(
    world,
    `create table test_drafts (id text primary key, created_at timestamptz not null, updated_at timestamptz not null,
       created_by text not null, updated_by text not null, record_version integer not null, deleted_at timestamptz,
       deleted_by text, organization_id text not null, name text not null);
     alter table test_drafts enable row level security;
     create policy test_drafts_app on test_drafts to core_app using (organization_id = current_setting('core.organization_id', true));
     insert into test_drafts values ('${held}', now(), now(), 'test', 'test', 1, null, null, '${person.organization.id}', 'held')`,
  );
  const stream = new Writable({
    write: (line: Buffer, _encoding, done) => {
      warnings.push(JSON.parse(line.toString()) as (typeof warnings)[number]);
      done();
    },
  });
  const logger = pino({ level: 'warn' }, stream);
  runtime = await openRuntime({
    config: world.config,
    temporalEnvironment: {},
    stateFolder: 'unused',
    logger,
    process: 'core api',
    registry,
  });
});
afterAll(async () => {
  await runtime.close();
  await world.close();
});

function as<T>(work: (data: DataClient) => Promise<T>, organizationId = person.organization.id): Promise<T> {
  const caller = callerOf({ kind: 'user', subjectId: person.user.id, organizationId, role: 'auditor' });
  return transactAs(runtime, caller, ({ data }) => work(data));
}

test('everybody in the organization can read its records, and nobody else', async () => {
  expect(await as((data) => data.find(draft, { limit: 100 }))).toMatchObject([{ id: held, name: 'held' }]);
  const stranger = await buildPerson(world);
  expect(await as((data) => data.find(draft, { limit: 100 }), stranger.organization.id)).toEqual([]);
});

test('changes of its records are dropped silently: no row, no history, no event', async () => {
  await as(async (data) => {
    await data.create(draft, { name: 'new' });
    await data.update(draft, held, { name: 'changed' });
    await data.updateAll(draft, [held], { name: 'changed' });
    await data.removeAll(draft, [held]);
    await data.remove(draft, held);
  });
  expect(await asOwner(world, 'select id, name, record_version, deleted_at from test_drafts')).toEqual([
    { id: held, name: 'held', record_version: 1, deleted_at: null },
  ]);
  const recorded = `select (select count(*)::int from history where entity_kind = 'testDraft') as history,
    (select count(*)::int from events where entity_kind = 'testDraft') as events`;
  expect(await asOwner(world, recorded)).toEqual([{ history: 0, events: 0 }]);
});

test('a process logs these kinds once when it starts', () => {
  expect(warnings).toEqual([
    expect.objectContaining({ level: 40, kinds: ['testDraft'], msg: expect.stringContaining('without rules') }),
  ]);
});

test('the product has no such kind, and logs nothing', () => {
  expect(kindsWithoutRules(productRegistry)).toEqual([]);
  expect(world.logs.filter(({ msg }) => String(msg).includes('without rules'))).toEqual([]);
});
