import { afterAll, beforeAll, expect, test } from 'vitest';
import { directoryAccount, integration, task } from '#entities/index.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asPerson, asSystem } from '../kit/as-person.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let integrationId: string;
beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  ({ id: integrationId } = await asSystem(world, owner.organization.id, (data) =>
    data.create(integration, { name: 'Directory', definitionId: 'scim', status: 'connected' }),
  ));
});
afterAll(() => world.close());

const accounts = (...externalIds: readonly string[]) =>
  externalIds.map((externalId) => ({ externalId, integrationId, organizationId: owner.organization.id }));

const createAccounts = (...externalIds: readonly string[]) =>
  asSystem(world, owner.organization.id, (data) => data.createRows(directoryAccount, accounts(...externalIds)));

test('records of the server are created in one statement, with their history and events', async () => {
  const ids = await createAccounts('1', '2');
  expect(ids).toHaveLength(2);
  const rows = await asSystem(world, owner.organization.id, (data) =>
    data.find(directoryAccount, { where: { id: { in: ids } }, limit: 10 }),
  );
  expect(new Map(rows.map((row) => [row.id, row]))).toEqual(
    new Map(
      ids.map((id, index) => [
        id,
        expect.objectContaining({ externalId: `${index + 1}`, isActive: true, provisioning: 'none', recordVersion: 1 }),
      ]),
    ),
  );
  const recorded = await asOwner<{ history: number; events: number; kinds: number }>(
    world,
    `select (select count(*)::int from history where entity_id = any($1) and operation = 'created') as history,
       (select count(*)::int from events where entity_id = any($1) and topic = 'directory_account.created') as events,
       (select count(*)::int from record_kinds where id = any($1)) as kinds`,
    [ids],
  );
  expect(recorded).toEqual([{ history: 2, events: 2, kinds: 2 }]);
});

test('all are created or none: a key that is taken, and more than a thousand', async () => {
  await createAccounts('taken');
  await expect(createAccounts('new', 'taken')).rejects.toMatchObject({ code: 'already_exists' });
  await expect(
    createAccounts(...Array.from({ length: 1_001 }, (_none, index) => `many ${index}`)),
  ).rejects.toMatchObject({ code: 'limit_exceeded' });
  const found = await asOwner(world, `select 1 from directory_accounts where external_id in ('new', 'many 0')`, []);
  expect(found).toEqual([]);
});

test('people do not create records in this way, and kinds whose creation does more have none', async () => {
  await expect(
    asPerson(world, owner, owner.organization.id, (data) => data.createRows(directoryAccount, accounts('3'))),
  ).rejects.toThrow(TypeError);
  const rows = [{ title: 'task', organizationId: owner.organization.id }];
  await expect(asSystem(world, owner.organization.id, (data) => data.createRows(task, rows))).rejects.toThrow(
    TypeError,
  );
});
