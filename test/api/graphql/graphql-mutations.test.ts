import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

const updateOrganization = `mutation ($id: ID!, $input: UpdateOrganizationInput!) {
  updateOrganization(id: $id, input: $input) { organization { id name displayName } } }`;
const updateUser = `mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { user { displayName firstName } } }`;
const deleteOrganization = 'mutation ($id: ID!) { deleteOrganization(id: $id) { deletedId } }';

const join = (person: Person, organizationId: string, role: 'owner' | 'member') =>
  world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, ({ data }) =>
    data.create(membership, { organizationId, userId: person.user.id, role }),
  );

describe('an update', () => {
  test('changes what is given and leaves the rest', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const { data } = await client.graphql(updateUser, { id: person.user.id, input: { firstName: 'Ada' } });
    expect(data.updateUser.user).toEqual({ displayName: person.user.displayName, firstName: 'Ada' });
    const emptied = await client.graphql(updateUser, { id: person.user.id, input: { firstName: null } });
    expect(emptied.data.updateUser.user.firstName).toBeNull();
    const versions = await asOwner(
      world,
      `select operation, changed_fields as changed from history where entity_id = $1 and operation = 'updated' order by record_version`,
      [person.user.id],
    );
    expect(versions).toEqual([
      { operation: 'updated', changed: ['firstName'] },
      { operation: 'updated', changed: ['firstName'] },
    ]);
  });

  test('of what one may see and not change is denied, of what one may not see not found', async () => {
    const owner = await buildPerson(world);
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const stranger = await buildPerson(world);
    const client = await signedIn(world, member);
    const input = { displayName: 'mine' };
    expectGraphqlError(await client.graphql(updateUser, { id: owner.user.id, input }), 'permission_denied');
    expectGraphqlError(
      await client.graphql(updateOrganization, { id: owner.organization.id, input }),
      'permission_denied',
    );
    for (const id of [stranger.organization.id, newId(), 'x', ''])
      expectGraphqlError(await client.graphql(updateOrganization, { id, input }), 'not_found', id);
    expectGraphqlError(await client.graphql(updateUser, { id: stranger.user.id, input }), 'not_found');
  });

  test('of an organization asks for the role there, not in the one that the caller acts in', async () => {
    const owner = await buildPerson(world);
    const guest = await buildPerson(world);
    await join(guest, owner.organization.id, 'member');
    const client = await signedIn(world, guest);
    const there = { id: owner.organization.id };
    expect(
      (await client.graphql('query ($id: ID!) { organization(id: $id) { id } }', there)).data.organization,
    ).toEqual(there);
    expectGraphqlError(
      await client.graphql(updateOrganization, { ...there, input: { displayName: 'taken over' } }),
      'permission_denied',
    );
    expectGraphqlError(await client.graphql(deleteOrganization, there), 'permission_denied');
  });

  test('that changes nothing leaves nothing behind', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const { id, displayName } = person.user;
    for (const input of [{}, { displayName }])
      expect((await client.graphql(updateUser, { id, input })).data.updateUser.user.displayName).toBe(displayName);
    expect(await asOwner(world, 'select record_version as version from users where id = $1', [id])).toEqual([
      { version: 1 },
    ]);
    // Minus zero is zero.
    const { data } = await client.graphql('mutation { createTask(input: { title: "a" }) { task { id } } }');
    const change = `mutation ($id: ID!) { updateTask(id: $id, input: { priority: -0 }) { task { recordVersion } } }`;
    const answer = await client.graphql(change, { id: data.createTask.task.id });
    expect(answer.data).toEqual({ updateTask: { task: { recordVersion: 1 } } });
  });

  test('is checked like a creation', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const { id } = person.organization;
    expectGraphqlError(await client.graphql(updateOrganization, { id, input: { name: 'x' } }), 'invalid_input');
    expectGraphqlError(await client.graphql(updateOrganization, { id, input: { name: null } }), 'invalid_input');
    expectGraphqlError(await client.graphql(updateOrganization, { id, input: { isPersonal: true } }), 'invalid_input');
    // Names of others are not refused: the refusal would tell that they exist.
    const other = await buildPerson(world);
    const answer = await client.graphql(updateOrganization, { id, input: { name: other.organization.name } });
    expect(answer.errors).toBeUndefined();
  });
});

describe('the deletion of an organization', () => {
  const rows = (organizationId: string) =>
    asOwner<{ kind: string; live: number }>(
      world,
      `select 'memberships' as kind, count(*) filter (where deleted_at is null)::int as live from memberships where organization_id = $1
       union all select 'settings', count(*) filter (where deleted_at is null)::int from organization_settings where organization_id = $1
       union all select 'organizations', count(*) filter (where deleted_at is null)::int from organizations where id = $1`,
      [organizationId],
    );

  test('takes along what hangs on it, is announced once, and frees its name', async () => {
    const owner = await buildPerson(world);
    const { id, name } = owner.organization;
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const bystander = await buildPerson(world);
    await eventually(async () => (await rows(id)).every(({ live }) => live > 0));
    const [ownerClient, memberClient] = [await signedIn(world, owner), await signedIn(world, member)];

    expectGraphqlError(await memberClient.graphql(deleteOrganization, { id }), 'permission_denied');
    const answer = await ownerClient.graphql(deleteOrganization, { id });
    expect(answer.data).toEqual({ deleteOrganization: { deletedId: id } });

    expect((await rows(id)).map(({ live }) => live)).toEqual([0, 0, 0]);
    expect((await rows(bystander.organization.id)).every(({ live }) => live > 0)).toBe(true);
    const requestId = answer.headers['x-request-id'];
    const history = await asOwner<{ kind: string }>(
      world,
      `select entity_kind as kind from history where request_id = $1 and operation = 'deleted' and actor like 'user:%' order by 1`,
      [requestId],
    );
    expect(history.map(({ kind }) => kind)).toEqual([
      'membership',
      'membership',
      'organization',
      'organization_setting',
    ]);
    const events = await asOwner(
      world,
      `select topic from events where request_id = $1 and actor like 'user:%' order by 1`,
      [requestId],
    );
    expect(events).toEqual([{ topic: 'organization.deleted' }, { topic: 'organization_removal.created' }]);

    // Rights go with it, on the next request and in the store.
    for (const client of [ownerClient, memberClient])
      expect((await client.graphql('{ organizations { totalCount } memberships { totalCount } }')).data).toEqual({
        organizations: { totalCount: 0 },
        memberships: { totalCount: 0 },
      });
    const tuple = { object: `organization:${id}`, relation: 'owner', subject: `user:${owner.user.id}` };
    await eventually(async () => (await world.runtime.store?.check(tuple)) === false);
    expectGraphqlError(await ownerClient.graphql(deleteOrganization, { id }), 'not_found');

    const again = await ownerClient.graphql(
      'mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { name } } }',
      { name },
    );
    expect(again.data.createOrganization.organization.name).toBe(name);
  });

  test('of many members goes in pieces and is whole', async () => {
    const owner = await buildPerson(world);
    const { id } = owner.organization;
    await asOwner(
      world,
      `with people as (
         insert into users (id, created_at, updated_at, created_by, updated_by, record_version, email, display_name, status)
         select '01' || lpad(n::text, 24, '0'), now(), now(), 'test', 'test', 1, 'many' || n || '@example.com', 'Many', 'active'
         from generate_series(1, 1200) as n returning id)
       insert into memberships (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, user_id, role)
       select '02' || substr(id, 3), now(), now(), 'test', 'test', 1, $1, id, 'member' from people`,
      [id],
    );
    await (await signedIn(world, owner)).graphql(deleteOrganization, { id });
    expect((await rows(id)).map(({ live }) => live)).toEqual([0, 0, 0]);
    const history = await asOwner(
      world,
      `select count(*)::int as count from history where organization_id = $1 and operation = 'deleted' and entity_kind = 'membership'`,
      [id],
    );
    expect(history).toEqual([{ count: 1201 }]);
    // These people were put there by hand, without the history that verification asks for.
    await asOwner(world, `delete from memberships where created_by = 'test'`);
    await asOwner(world, `delete from users where created_by = 'test'`);
    await asOwner(world, `delete from history where entity_id like '02%'`);
  });

  test('is undone with the operation it is part of', async () => {
    const owner = await buildPerson(world);
    const { id } = owner.organization;
    await eventually(async () => (await rows(id)).every(({ live }) => live > 0));
    const answer = await (
      await signedIn(world, owner)
    ).graphql(
      'mutation ($id: ID!) { deleteOrganization(id: $id) { deletedId } again: deleteOrganization(id: $id) { deletedId } }',
      { id },
    );
    expectGraphqlError(answer, 'not_found');
    expect((await rows(id)).every(({ live }) => live > 0)).toBe(true);
  });
});
