import { afterAll, beforeAll, expect, test } from 'vitest';
import { membership, organization } from '#entities/index.ts';
import { maxHierarchyDepth } from '#entities/kit/model/hierarchy.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPart, buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const create = (parentId: string, by = client) =>
  by.post('/v1/organizations', { name: `Child ${newId()}`, parent_id: parentId });

const mutation = `mutation ($input: CreateOrganizationInput!) {
  createOrganization(input: $input) { organization { id parentId parent { id } } } }`;

test('whoever manages an organization creates one below it, with all that belongs to one, over REST and GraphQL', async () => {
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const parentId = owner.organization.id;
  const { data } = await client.graphql(mutation, { input: { name: 'Below over GraphQL', parentId } });
  expect(data.createOrganization.organization).toMatchObject({ parentId, parent: { id: parentId } });
  const answer = await create(parentId, await signedIn(world, admin));
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const [made] = await asOwner(
    world,
    `select o.parent_id, (select count(*)::int from groups g where g.organization_id = o.id) as groups,
       (select count(*)::int from organization_settings s where s.organization_id = o.id) as settings,
       (select array_agg(m.user_id || ' ' || m.role) from memberships m where m.organization_id = o.id) as members
     from organizations o where o.id = $1`,
    [answer.body.id],
  );
  expect(made).toEqual({ parent_id: parentId, groups: 3, settings: 1, members: [`${admin.user.id} owner`] });
});

test.each(['member', 'auditor'] as const)('a %s of an organization creates none below it', async (role) => {
  const person = await buildPerson(world, { organization: owner.organization, role });
  expectProblem(await create(owner.organization.id, await signedIn(world, person)), 'permission_denied');
});

test('nobody creates one below an organization of others, which is as one that does not exist', async () => {
  const stranger = await signedIn(world, await buildPerson(world));
  for (const parent of [owner.organization.id, newId(), 'nothing'])
    expectProblem(await create(parent, stranger), 'not_found', parent);
  expectGraphqlError(
    await stranger.graphql(mutation, { input: { name: 'Below', parentId: owner.organization.id } }),
    'not_found',
  );
  const leaver = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const theirs = await signedIn(world, leaver);
  const { body } = await client.get(`/v1/memberships?user_id=${leaver.user.id}`);
  const gone = await client.mutate({ method: 'DELETE', url: `/v1/memberships/${body.data[0].id}` });
  expect(gone.status).toBe(204);
  expect([401, 403, 404]).toContain((await create(owner.organization.id, theirs)).status);
});

test('a personal organization has neither children nor a parent', async () => {
  const built = { caller: systemCaller('test'), requestId: newId() };
  const home = await world.runtime.database.transact(built, ({ data }) =>
    data.create(organization, { name: `Personal ${newId()}`, isPersonal: true }),
  );
  const person = await buildPerson(world, { organization: home });
  expectProblem(await create(home.id, await signedIn(world, person)), 'permission_denied');
  // The server is refused, too.
  const child = world.runtime.database.transact(built, ({ data }) =>
    data.create(organization, { name: `Personal ${newId()}`, isPersonal: true, parentId: owner.organization.id }),
  );
  await expect(child).rejects.toMatchObject({ code: 'permission_denied' });
});

test('an archived or deleted organization gets no children', async () => {
  const other = await buildPerson(world);
  const theirs = await signedIn(world, other);
  const url = `/v1/organizations/${other.organization.id}`;
  await theirs.mutate({ method: 'PATCH', url, payload: { is_archived: true } });
  expectProblem(await create(other.organization.id, theirs), 'organization_archived');
  await theirs.mutate({ method: 'PATCH', url, payload: { is_archived: false } });
  expect((await theirs.mutate({ method: 'DELETE', url })).status).toBe(204);
  expect([401, 403, 404]).toContain((await create(other.organization.id, theirs)).status);
});

test('a hierarchy has twenty levels, also for whoever sees only the last of them', async () => {
  let parentId: string | null = null;
  for (let level = 1; level < maxHierarchyDepth; level++) parentId = (await buildPart(world, parentId)).id;
  const [low] = await asOwner<{ id: string; name: string }>(world, 'select id, name from organizations where id = $1', [
    parentId,
  ]);
  const above = await world.runtime.database.transact(
    { caller: systemCaller('test'), requestId: newId() },
    ({ data }) => data.get(organization, low?.id ?? ''),
  );
  const person = await buildPerson(world, { organization: { ...above } });
  const theirs = await signedIn(world, person);
  const last = await create(above.id, theirs);
  expect(last.status, JSON.stringify(last.body)).toBe(201);
  expect((await theirs.post('/v1/switch', { target_organization_id: last.body.id })).status).toBe(200);
  expectProblem(await create(last.body.id, theirs), 'rule_violated');
});

test('an organization keeps its parent, so that there are no cycles', async () => {
  const child = await create(owner.organization.id);
  const payload = { parent_id: child.body.id };
  const url = `/v1/organizations/${owner.organization.id}`;
  expectProblem(await client.mutate({ method: 'PATCH', url, payload }), 'invalid_input');
});

test('an admin of the organization above creates a group below, where they are no member, and manages it through that role', async () => {
  const child = await buildPart(world, owner.organization.id);
  const member = await buildPerson(world, { organization: child, role: 'member' });
  const [admin, colleague] = await Promise.all([
    buildPerson(world, { organization: owner.organization, role: 'admin' }),
    buildPerson(world, { organization: owner.organization, role: 'admin' }),
  ]);
  const [by, other] = [await signedIn(world, admin), await signedIn(world, colleague)];
  for (const one of [by, other])
    expect((await one.post('/v1/switch', { target_organization_id: child.id })).status).toBe(200);
  const made = await by.post('/v1/groups', { name: `From above ${newId()}` });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const url = `/v1/groups/${made.body.id}`;
  expect((await by.get(url)).body.name).toBe(made.body.name);
  expect((await by.get(`/v1/group-memberships?group_id=${made.body.id}`)).body.data).toEqual([]);
  const added = await by.post('/v1/group-memberships', { group_id: made.body.id, user_id: member.user.id });
  expect(added.status).toBe(201);
  expect((await by.mutate({ method: 'PATCH', url, payload: { description: 'managed' } })).status).toBe(200);
  const bulk = 'mutation ($inputs: [CreateGroupInput!]!) { createBulkGroup(inputs: $inputs) { groups { name } } }';
  const { data } = await by.graphql(bulk, { inputs: [{ name: `In bulk ${newId()}` }, { name: `In bulk ${newId()}` }] });
  expect(data.createBulkGroup.groups).toHaveLength(2);
  // Others with the same role have no more rights to it than before.
  expectProblem(await other.get(url), 'not_found');
  const { body } = await client.get(`/v1/memberships?user_id=${admin.user.id}`);
  expect((await client.mutate({ method: 'DELETE', url: `/v1/memberships/${body.data[0].id}` })).status).toBe(204);
  expect([401, 403, 404]).toContain((await by.mutate({ method: 'PATCH', url, payload: { name: 'late' } })).status);
});

const membershipOf = (personId: string, organizationId: string) =>
  asSystem(world, organizationId, (data) => data.findOne(membership, { userId: { eq: personId } }));

async function removed(person: Person): Promise<void> {
  const held = await membershipOf(person.user.id, person.organization.id);
  const gone = await client.mutate({ method: 'DELETE', url: `/v1/memberships/${held?.id}` });
  expect(gone.status, JSON.stringify(gone.body)).toBe(204);
}

async function actingIn(organizationId: string, person: Person): Promise<TestClient> {
  const by = await signedIn(world, person);
  expect((await by.post('/v1/switch', { target_organization_id: organizationId })).status).toBe(200);
  return by;
}

const managersOf = (id: string) =>
  asOwner<{ manager_id: string | null }>(world, 'select manager_id from groups where id = $1', [id]);

test('who loses the role of the organization above manages no group below any more, and not again as a member', async () => {
  const child = await buildPart(world, owner.organization.id);
  const deeper = await buildPart(world, child.id);
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const groups: string[] = [];
  for (const place of [child, deeper]) {
    const by = await actingIn(place.id, admin);
    groups.push((await by.post('/v1/groups', { name: `Managed ${newId()}` })).body.id);
  }
  for (const id of groups) expect(await managersOf(id)).toEqual([{ manager_id: admin.user.id }]);
  await removed(admin);
  for (const id of groups) expect(await managersOf(id)).toEqual([{ manager_id: null }]);
  await asSystem(world, deeper.id, (data) => data.create(membership, { userId: admin.user.id, role: 'member' }));
  const again = await actingIn(deeper.id, admin);
  expectProblem(await again.get(`/v1/groups/${groups[1]}`), 'not_found');
});

test('a member is removed although an organization below, in which they manage a group, is archived', async () => {
  const child = await buildPart(world, owner.organization.id);
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const { body } = await (await actingIn(child.id, admin)).post('/v1/groups', { name: `Archived ${newId()}` });
  expect(await managersOf(body.id)).toEqual([{ manager_id: admin.user.id }]);
  await asSystem(world, child.id, (data) => data.update(organization, child.id, { isArchived: true }));
  await removed(admin);
  expect(await managersOf(body.id)).toEqual([{ manager_id: null }]);
});

test('who keeps a role that counts below goes on managing', async () => {
  const child = await buildPart(world, owner.organization.id);
  const deeper = await buildPart(world, child.id);
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  await asSystem(world, child.id, (data) => data.create(membership, { userId: admin.user.id, role: 'admin' }));
  const by = await actingIn(deeper.id, admin);
  const { body: group } = await by.post('/v1/groups', { name: `Kept ${newId()}` });
  await removed(admin);
  expect(await managersOf(group.id)).toEqual([{ manager_id: admin.user.id }]);
  expect((await by.get(`/v1/groups/${group.id}`)).status).toBe(200);
});

test('saved views and notification preferences are for people with a role of the organization above, too, and end with it', async () => {
  const child = await buildPart(world, owner.organization.id);
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const by = await actingIn(child.id, admin);
  const view = await by.post('/v1/saved-views', { name: 'Mine', record_kind: 'task', order_by: ['-createdAt'] });
  const preference = await by.post('/v1/notification-preferences', { channel: 'email', cadence: 'daily' });
  expect([view.status, preference.status], JSON.stringify([view.body, preference.body])).toEqual([201, 201]);
  expect((await by.get(`/v1/tasks?view=${view.body.id}`)).status).toBe(200);
  const url = `/v1/notification-preferences/${preference.body.id}`;
  expect((await by.mutate({ method: 'PATCH', url, payload: { cadence: 'weekly' } })).body.cadence).toBe('weekly');
  await removed(admin);
  const live = await asOwner(
    world,
    `select id from saved_views where organization_id = $1 and deleted_at is null
     union all select id from notification_preferences where organization_id = $1 and deleted_at is null`,
    [child.id],
  );
  expect(live).toEqual([]);
  // Groups take members alone, as before.
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const other = await actingIn(child.id, colleague);
  const { body: group } = await other.post('/v1/groups', { name: `Members only ${newId()}` });
  const payload = { group_id: group.id, user_id: colleague.user.id };
  expectProblem(await other.post('/v1/group-memberships', payload), 'not_found');
});

test('a view made with a role of the organization above after one’s own membership ended is no contradiction', async () => {
  const child = await buildPart(world, owner.organization.id);
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const held = await asSystem(world, child.id, (data) =>
    data.create(membership, { userId: admin.user.id, role: 'member' }),
  );
  await asSystem(world, child.id, (data) => data.remove(membership, held.id));
  const by = await actingIn(child.id, admin);
  expect((await by.post('/v1/saved-views', { name: 'After', record_kind: 'task' })).status).toBe(201);
  // The end of this world compares rows with what they depend on.
});
