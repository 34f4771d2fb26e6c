import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { membership, organization } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { roles, systemCaller, type Role } from '#entities/kit/model/caller.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { inviteToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

/** The managed groups of which a person is a live member, as rows and as tuples say. */
async function groupsOf(userId: string, organizationId = owner.organization.id) {
  const [found] = await asOwner<{ rows: string[]; tuples: string[] }>(
    world,
    `select
       array(select g.managed_as from group_memberships m join groups g on g.id = m.group_id
         where m.user_id = $1 and m.organization_id = $2 and m.deleted_at is null and g.managed_as is not null order by 1) as rows,
       array(select g.managed_as from desired_tuples t join groups g on t.object = 'group:' || g.id
         where t.subject = 'user:' || $1 and t.relation = 'member' and t.present and g.organization_id = $2
           and g.managed_as is not null order by 1) as tuples`,
    [userId, organizationId],
  );
  expect(found?.tuples).toEqual(found?.rows);
  return found?.rows;
}

const managers = ['admins', 'all_members'];
const others = ['all_members', 'viewers'];

async function join(role: Role): Promise<{ person: Person; id: string }> {
  const person = await buildPerson(world, { organization: owner.organization, role });
  const [held] = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [
    person.user.id,
  ]);
  return { person, id: held?.id ?? '' };
}

const patch = (id: string, role: Role): Promise<TestAnswer> =>
  client.mutate({ method: 'PATCH', url: `/v1/memberships/${id}`, payload: { role } });

describe('a new organization', () => {
  test('has three managed groups, which all its members see', async () => {
    const member = await signedIn(world, (await join('auditor')).person);
    for (const by of [client, member]) {
      const { body } = await by.get('/v1/groups');
      expect(body.data.map((one: Record<string, unknown>) => [one['name'], one['managed_as']]).toSorted()).toEqual([
        ['Admins', 'admins'],
        ['All Members', 'all_members'],
        ['Viewers', 'viewers'],
      ]);
    }
  });

  test('that is personal has none', async () => {
    const made = await world.runtime.database.transact(
      { caller: systemCaller('test'), requestId: newId() },
      ({ data }) => data.create(organization, { name: 'of nobody else', isPersonal: true }),
    );
    expect(await asOwner(world, 'select 1 from groups where organization_id = $1', [made.id])).toEqual([]);
  });
});

describe('members follow the role', () => {
  test.each(roles)('of a %s who joins', async (role) => {
    const { person } = await join(role);
    expect(await groupsOf(person.user.id)).toEqual(['member', 'auditor'].includes(role) ? others : managers);
  });

  test('when it changes, over REST, GraphQL and for many at once', async () => {
    const [one, two] = [await join('member'), await join('auditor')];
    expect((await patch(one.id, 'admin')).status).toBe(200);
    expect(await groupsOf(one.person.user.id)).toEqual(managers);
    // Among those who manage it, nothing changes.
    expect((await patch(one.id, 'super_admin')).status).toBe(200);
    expect(await groupsOf(one.person.user.id)).toEqual(managers);
    const bulk = await client.graphql(
      'mutation ($ids: [ID!]!, $input: UpdateMembershipInput!) { updateBulkMembership(ids: $ids, input: $input) { notUpdated { code } } }',
      { ids: [one.id, two.id], input: { role: 'MEMBER' } },
    );
    expect(bulk.errors).toBeUndefined();
    for (const { person } of [one, two]) expect(await groupsOf(person.user.id)).toEqual(others);
  });

  test('when they leave, are removed, or join again', async () => {
    const { person, id } = await join('admin');
    const theirs = await signedIn(world, person);
    expect((await theirs.mutate({ method: 'DELETE', url: `/v1/memberships/${id}` })).status).toBe(204);
    expect(await groupsOf(person.user.id)).toEqual([]);
    await asSystem(world, owner.organization.id, (data) =>
      data.create(membership, { userId: person.user.id, role: 'member' }),
    );
    expect(await groupsOf(person.user.id)).toEqual(others);
  });

  test('when the ownership is transferred', async () => {
    const { person } = await join('member');
    const answer = await client.post(`/v1/organizations/${owner.organization.id}/transfer-ownership`, {
      user_id: person.user.id,
    });
    expect(answer.status).toBe(200);
    for (const id of [person.user.id, owner.user.id]) expect(await groupsOf(id)).toEqual(managers);
  });

  test('when an invitation is accepted', async () => {
    const guest = await buildPerson(world);
    expect((await client.post('/v1/invites', { recipient: guest.user.email, role: 'admin' })).status).toBe(201);
    const theirs = await signedIn(world, guest);
    const token = await inviteToken(world, guest.user.email);
    expect((await theirs.post('/v1/invite/accept', { token })).status).toBe(200);
    expect(await groupsOf(guest.user.id)).toEqual(managers);
  });

  test('and what is refused changes nothing', async () => {
    const before = await groupsOf(owner.user.id);
    const [own] = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [
      owner.user.id,
    ]);
    expectProblem(await patch(own?.id ?? '', 'member'), 'last_owner');
    expect(await groupsOf(owner.user.id)).toEqual(before);
  });

  test('after fifty changes at once, of which some remove the member', async () => {
    const { person, id } = await join('member');
    const wanted = Array.from({ length: 50 }, (_none, index) => roles[1 + (index % 4)] ?? 'member');
    const answers = await Promise.all([
      ...wanted.map((role) => patch(id, role)),
      ...[1, 2].map(() => client.mutate({ method: 'DELETE', url: `/v1/memberships/${id}` })),
    ]);
    for (const { status, body } of answers)
      expect([200, 204, 404, 409], `${status} ${JSON.stringify(body)}`).toContain(status);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(await groupsOf(person.user.id)).toEqual([]);
    expect(await verifyInstallation(world.runtime, { isQuiet: false })).toEqual([]);
  });
});

describe('nobody changes a managed group', () => {
  async function groupOf(managedAs: string): Promise<string> {
    const { body } = await client.get(`/v1/groups?managed_as=${managedAs}`);
    expect(body.data).toHaveLength(1);
    return body.data[0].id;
  }

  test('its name, its settings and its members, over REST and GraphQL', async () => {
    const id = await groupOf('admins');
    const { person } = await join('member');
    const [held] = await asOwner<{ id: string }>(world, 'select id from group_memberships where user_id = $1 limit 1', [
      person.user.id,
    ]);
    const [setting] = await asOwner<{ id: string }>(world, 'select id from group_settings where group_id = $1', [id]);
    for (const request of [
      { method: 'PATCH', url: `/v1/groups/${id}`, payload: { name: 'Ours' } },
      { method: 'DELETE', url: `/v1/groups/${id}` },
      { method: 'POST', url: '/v1/group-memberships', payload: { group_id: id, user_id: person.user.id } },
      { method: 'PATCH', url: `/v1/group-memberships/${held?.id}`, payload: { role: 'admin' } },
      { method: 'DELETE', url: `/v1/group-memberships/${held?.id}` },
      { method: 'PATCH', url: `/v1/group-settings/${setting?.id}`, payload: { visibility: 'private' } },
    ] as const)
      expectProblem(await client.mutate(request), 'permission_denied', JSON.stringify(request));
    expectGraphqlError(
      await client.graphql('mutation ($id: ID!) { deleteGroup(id: $id) { deletedId } }', { id }),
      'permission_denied',
    );
    const bulk = await client.graphql(
      'mutation ($ids: [ID!]!) { deleteBulkGroup(ids: $ids) { deletedIds notDeleted { id code } } }',
      { ids: [id] },
    );
    expect(bulk.data.deleteBulkGroup).toEqual({ deletedIds: [], notDeleted: [{ id, code: 'permission_denied' }] });
  });

  test('and nobody makes one', async () => {
    const answer = await client.post('/v1/groups', { name: 'Mine', managed_as: 'admins' });
    expectProblem(answer, 'invalid_input');
    expectProblem(await client.post('/v1/groups', { name: 'Viewers' }), 'already_exists');
  });

  test('of another organization', async () => {
    const id = await groupOf('admins');
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await stranger.get(`/v1/groups/${id}`), 'not_found');
    expectProblem(await stranger.post('/v1/group-memberships', { group_id: id, user_id: owner.user.id }), 'not_found');
  });

  test('but tasks are shared with it', async () => {
    const { body: task } = await client.post('/v1/tasks', { title: 'for all' });
    const { person } = await join('member');
    const theirs = await signedIn(world, person);
    expectProblem(await theirs.get(`/v1/tasks/${task.id}`), 'not_found');
    const share = await client.post('/v1/task-shares', {
      task_id: task.id,
      group_id: await groupOf('all_members'),
      relation: 'viewer',
    });
    expect(share.status).toBe(201);
    expect((await theirs.get(`/v1/tasks/${task.id}`)).status).toBe(200);
    const later = await signedIn(world, (await join('auditor')).person);
    expect((await later.get(`/v1/tasks/${task.id}`)).status).toBe(200);
  });
});
