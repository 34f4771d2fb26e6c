import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { membership, user } from '#entities/index.ts';
import type { Role } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem, transactAs } from '../../kit/as-person.ts';
import { callerNow } from '../../kit/caller-now.ts';
import { timesOf } from '../../kit/depth.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { whileLocked } from '../../kit/records/while-locked.ts';
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

interface Colleague {
  readonly person: Person;
  readonly client: TestClient;
  /** Id of the membership. */
  readonly id: string;
}

async function colleague(role: Role): Promise<Colleague> {
  const person = await buildPerson(world, { organization: owner.organization, role });
  return { person, client: await signedIn(world, person), id: await membershipOf(person) };
}

async function membershipOf({ user: { id }, organization }: Person): Promise<string> {
  const [row] = await asOwner<{ id: string }>(
    world,
    'select id from memberships where user_id = $1 and organization_id = $2 and deleted_at is null',
    [id, organization.id],
  );
  return row?.id ?? '';
}

const patch = (by: TestClient, id: string, role: Role): Promise<TestAnswer> =>
  by.mutate({ method: 'PATCH', url: `/v1/memberships/${id}`, payload: { role } });
const remove = (by: TestClient, id: string): Promise<TestAnswer> =>
  by.mutate({ method: 'DELETE', url: `/v1/memberships/${id}` });
const transfer = (by: TestClient, userId: string, organizationId = owner.organization.id): Promise<TestAnswer> =>
  by.post(`/v1/organizations/${organizationId}/transfer-ownership`, { user_id: userId });

const transferByGraphql = (by: TestClient, userId: string) =>
  by.graphql(
    'mutation ($id: ID!, $userId: ID!) { transferOwnership(id: $id, userId: $userId) { organization { id } membership { role user { id } } } }',
    { id: owner.organization.id, userId },
  );

const owners = async (organizationId = owner.organization.id): Promise<number> =>
  (
    await asOwner(
      world,
      `select 1 from memberships where organization_id = $1 and role = 'owner' and deleted_at is null`,
      [organizationId],
    )
  ).length;

describe('roles', () => {
  test('change over REST and GraphQL, and the rights with them at once', async () => {
    const { client: theirs, id } = await colleague('member');
    expectProblem(await theirs.post('/v1/invites', { recipient: 'a@example.com' }), 'permission_denied');
    expect((await patch(client, id, 'admin')).body).toMatchObject({ role: 'admin' });
    expect((await theirs.post('/v1/invites', { recipient: 'a@example.com' })).status).toBe(201);
    const answer = await client.graphql(
      'mutation ($id: ID!) { updateMembership(id: $id, input: { role: AUDITOR }) { membership { role } } }',
      { id },
    );
    expect(answer.data).toEqual({ updateMembership: { membership: { role: 'AUDITOR' } } });
    expectProblem(await theirs.post('/v1/invites', { recipient: 'b@example.com' }), 'permission_denied');
  });

  test('above their own are nobody’s to give or to take', async () => {
    const [superAdmin, admin, member] = [
      await colleague('super_admin'),
      await colleague('admin'),
      await colleague('member'),
    ];
    const ownerId = await membershipOf(owner);
    for (const answer of [
      await patch(superAdmin.client, member.id, 'owner'),
      await patch(superAdmin.client, superAdmin.id, 'owner'),
      await patch(superAdmin.client, ownerId, 'member'),
      await remove(superAdmin.client, ownerId),
      await remove(admin.client, superAdmin.id),
      await patch(admin.client, member.id, 'auditor'),
      await patch(member.client, member.id, 'admin'),
      await remove(member.client, admin.id),
    ])
      expectProblem(answer, 'permission_denied');
    const bulk = await superAdmin.client.graphql(
      'mutation ($ids: [ID!]!) { deleteBulkMembership(ids: $ids) { deletedIds notDeleted { id code } } }',
      { ids: [ownerId, member.id] },
    );
    expect(bulk.data.deleteBulkMembership).toEqual({
      deletedIds: [member.id],
      notDeleted: [{ id: ownerId, code: 'permission_denied' }],
    });
    expect((await patch(superAdmin.client, admin.id, 'super_admin')).status).toBe(200);
    expect((await patch(client, admin.id, 'owner')).status).toBe(200);
  });

  test('of another organization are not there', async () => {
    const { id } = await colleague('member');
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await patch(stranger, id, 'auditor'), 'not_found');
    expectProblem(await remove(stranger, id), 'not_found');
    expectProblem(await transfer(stranger, owner.user.id), 'not_found');
  });
});

describe('the list of memberships', () => {
  test('has those of the current organization alone, over REST and GraphQL; those of a person elsewhere are a list of their own', async () => {
    const other = await buildPerson(world);
    await asSystem(world, other.organization.id, (data) =>
      data.create(membership, { userId: owner.user.id, role: 'member' }),
    );
    const here = owner.organization.id;
    const both = [here, other.organization.id].toSorted();
    const organizationsOf = (rows: { organization_id: string }[]) =>
      [...new Set(rows.map(({ organization_id: id }) => id))].toSorted();
    const listed = await client.get('/v1/memberships?count=true');
    expect(organizationsOf(listed.body.data)).toEqual([here]);
    expect((await client.get(`/v1/memberships?organization_id=${other.organization.id}`)).body.data).toEqual([]);
    const grouped = await client.get('/v1/memberships/aggregates?group_by=role');
    const counts: { count: number }[] = grouped.body.data;
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(listed.body.total_count);
    const own = await client.get('/v1/account/memberships?order_by=created_at&count=true');
    expect(organizationsOf(own.body.data)).toEqual(both);
    expect(own.body).toMatchObject({ total_count: 2, data: [{ user_id: owner.user.id }, { user_id: owner.user.id }] });
    expect((await client.get('/v1/account/memberships?role=member')).body.data).toMatchObject([
      { organization_id: other.organization.id },
    ]);
    const { data, errors } = await client.graphql(
      '{ memberships(first: 100) { totalCount edges { node { organization { id } } } } self { memberships(first: 100) { edges { node { organization { id } } } } } }',
    );
    expect(errors).toBeUndefined();
    const idsOf = (list: { edges: { node: { organization: { id: string } } }[] }) =>
      [...new Set(list.edges.map(({ node }) => node.organization.id))].toSorted();
    expect(data.memberships.totalCount).toBe(listed.body.total_count);
    expect(idsOf(data.memberships)).toEqual([here]);
    expect(idsOf(data.self.memberships)).toEqual(both);
    expectProblem(await world.client().get('/v1/account/memberships'), 'unauthenticated');
  });
});

describe('who is removed, or leaves,', () => {
  test('has no rights with the next request, and is in no group any more', async () => {
    const { person, client: theirs, id } = await colleague('member');
    const { body: group } = await client.post('/v1/groups', { name: 'a team' });
    await client.post('/v1/group-memberships', { group_id: group.id, user_id: person.user.id });
    const { body: task } = await theirs.post('/v1/tasks', { title: 'theirs' });
    expect((await theirs.get(`/v1/tasks/${task.id}`)).status).toBe(200);
    expect((await remove(client, id)).status).toBe(204);
    expectProblem(await theirs.get(`/v1/tasks/${task.id}`), 'no_current_organization');
    expectProblem(await theirs.post('/v1/tasks', { title: 'no more' }), 'no_current_organization');
    expect((await theirs.get('/v1/memberships')).body.data).toEqual([]);
    expect((await client.get(`/v1/group-memberships?group_id=${group.id}&count=true`)).body.total_count).toBe(0);
    expectProblem(await theirs.post('/v1/switch', { target_organization_id: owner.organization.id }), 'not_found');
  });

  test('does so themselves, also while they act in another organization', async () => {
    const first = await colleague('auditor');
    expect((await remove(first.client, first.id)).status).toBe(204);
    const second = await buildPerson(world);
    await asSystem(world, owner.organization.id, (data) =>
      data.create(membership, { userId: second.user.id, role: 'super_admin' }),
    );
    const theirs = await signedIn(world, second);
    const joined = await membershipOf({ ...second, organization: owner.organization });
    expect((await remove(theirs, joined)).status).toBe(204);
    expect(await membershipOf({ ...second, organization: owner.organization })).toBe('');
  });
});

describe('T-71: the last owner', () => {
  test('cannot leave, be demoted, or be deleted with their account', async () => {
    await colleague('super_admin');
    const id = await membershipOf(owner);
    expectProblem(await remove(client, id), 'last_owner');
    expectProblem(await patch(client, id, 'admin'), 'last_owner');
    expectGraphqlError(
      await client.graphql('mutation ($ids: [ID!]!) { deleteBulkMembership(ids: $ids) { deletedIds } }', { ids: [id] }),
      'last_owner',
    );
    await expect(
      asSystem(world, owner.organization.id, (data) => data.remove(user, owner.user.id)),
    ).rejects.toMatchObject({ code: 'last_owner' });
    expect(await owners()).toBe(1);
  });

  test('is the last active one: who is deactivated or locked out does not count', async () => {
    const second = await colleague('owner');
    const id = await membershipOf(owner);
    for (const status of ['deactivated', 'suspended', 'inactive'] as const) {
      await setStatus(second.person, status);
      expectProblem(await patch(client, id, 'admin'), 'last_owner', status);
      expectProblem(await remove(client, id), 'last_owner', status);
    }
    expect((await remove(client, second.id)).status).toBe(204);
    const third = await colleague('owner');
    await setStatus(third.person, 'deactivated');
    await setStatus(third.person, 'active');
    expect((await remove(client, id)).status).toBe(204);
  });

  test('goes with the organization', async () => {
    const answer = await client.mutate({ method: 'DELETE', url: `/v1/organizations/${owner.organization.id}` });
    expect(answer.status).toBe(204);
    expect(await owners()).toBe(0);
    await asSystem(world, owner.organization.id, (data) => data.remove(user, owner.user.id));
  });

  test('stays when two leave, or demote each other, at once in two processes, again and again', async () => {
    const other = (await world.openInstance()).runtime;
    const rounds = timesOf({ sample: 50, prove: 1_000 });
    for (let round = 0; round < rounds; round++) {
      const one = await buildPerson(world);
      const two = await buildPerson(world, { organization: one.organization, role: 'owner' });
      const leave = (person: Person, runtime: World['runtime']) =>
        asMember(runtime, person, async (data) => data.remove(membership, await membershipOf(person)));
      const demote = (by: Person, whom: Person, runtime: World['runtime']) =>
        asMember(runtime, by, async (data) => data.update(membership, await membershipOf(whom), { role: 'member' }));
      const changes =
        round % 2 === 0
          ? [leave(one, world.runtime), leave(two, other)]
          : [demote(one, two, world.runtime), demote(two, one, other)];
      const outcomes = (await Promise.allSettled(changes)).map(({ status }) => status);
      expect(outcomes.toSorted(), `round ${round}`).toEqual(['fulfilled', 'rejected']);
      expect(await owners(one.organization.id)).toBe(1);
    }
    recordTried('pairs of owners who leave, or demote each other, at once', rounds);
  });

  test('stays when fifty owners leave at once', async () => {
    const rounds = timesOf({ sample: 1, prove: 20 });
    for (let round = 0; round < rounds; round++) {
      const first = await buildPerson(world);
      const many = [first];
      for (let count = 1; count < 50; count++)
        many.push(await buildPerson(world, { organization: first.organization, role: 'owner' }));
      const leave = (person: Person) =>
        asMember(world.runtime, person, async (data) => data.remove(membership, await membershipOf(person)));
      const outcomes = await Promise.allSettled(many.map(leave));
      const stayed = many.filter((_person, index) => outcomes[index]?.status === 'rejected');
      expect(await owners(first.organization.id)).toBe(stayed.length);
      // On a busy machine some are told to try again.
      for (const person of stayed.slice(1)) await leave(person);
      await expect(leave(stayed[0] as Person)).rejects.toMatchObject({ code: 'last_owner' });
      expect(await owners(first.organization.id)).toBe(1);
    }
    recordTried('fifty owners who leave at once', rounds);
  });
});

/** Runs work in a process with the rights that a person has in their organization. */
async function asMember<T>(
  runtime: World['runtime'],
  { user: { id }, organization }: Person,
  work: (data: DataClient) => Promise<T>,
): Promise<T> {
  return transactAs(runtime, await callerNow(runtime, id, organization.id), ({ data }) => work(data));
}

const setStatus = ({ user: { id } }: Person, status: 'active' | 'deactivated' | 'suspended' | 'inactive') =>
  asSystem(world, owner.organization.id, (data) => data.update(user, id, { status }));

describe('ownership', () => {
  test('goes to nobody who is deactivated while it is transferred', async () => {
    const { person } = await colleague('member');
    const answer = await whileLocked(
      world,
      [user, person.user.id],
      () => transfer(client, person.user.id),
      (data) => data.update(user, person.user.id, { status: 'deactivated' }),
    );
    expectProblem(answer, 'invalid_input');
    expect((await client.get('/v1/memberships?role=owner')).body.data).toMatchObject([{ user_id: owner.user.id }]);
  });

  test('is refused without waiting for the accounts of others', async () => {
    const { client: member } = await colleague('member');
    const other = await buildPerson(world);
    const stranger = await signedIn(world, other);
    for (const [attempt, code] of [
      [() => transfer(member, owner.user.id), 'permission_denied'],
      [() => transfer(stranger, owner.user.id, other.organization.id), 'not_found'],
      [() => transfer(stranger, owner.user.id), 'not_found'],
    ] as const) {
      let hasEnded = false;
      const answer = await whileLocked(
        world,
        [user, owner.user.id],
        () => attempt().finally(() => (hasEnded = true)),
        async () => expect(hasEnded, code).toBe(true),
      );
      expectProblem(answer, code);
    }
  });

  test('T-14: is given only with a recent proof, on every way, and so does the organization end', async () => {
    const { person, id } = await colleague('admin');
    world.clock.advance(11 * 60_000);
    const recipient = `${person.user.id.toLowerCase()}@example.com`;
    const csv = `recipient,role\n${recipient},owner`;
    for (const attempt of [
      () => transfer(client, person.user.id),
      () => patch(client, id, 'owner'),
      () => client.post('/v1/invites', { recipient, role: 'owner' }),
      () => client.graphql(`mutation { updateMembership(id: "${id}", input: { role: OWNER }) { updatedId } }`),
      () => client.graphql(`mutation { updateBulkMembership(ids: ["${id}"], input: { role: OWNER }) { updatedIds } }`),
      () =>
        client.graphql(`mutation { createInvite(input: { recipient: "${recipient}", role: OWNER }) { createdId } }`),
      () =>
        client.graphql(
          `mutation { createBulkInvite(inputs: [{ recipient: "${recipient}", role: OWNER }]) { invites { id } } }`,
        ),
      () => client.graphql('mutation ($csv: String!) { createBulkCSVInvite(csv: $csv) { invites { id } } }', { csv }),
    ])
      expect(JSON.stringify((await attempt()).body), String(attempt)).toContain('step_up_required');
    for (const attempt of [
      () => client.mutate({ method: 'DELETE', url: `/v1/organizations/${owner.organization.id}` }),
      () => client.graphql(`mutation { deleteOrganization(id: "${owner.organization.id}") { deletedId } }`),
      () => client.graphql(`mutation { deleteBulkOrganization(ids: ["${owner.organization.id}"]) { deletedIds } }`),
    ])
      expect(JSON.stringify((await attempt()).body), String(attempt)).toContain('step_up_required');
    expect((await patch(client, id, 'member')).status).toBe(200);
    expect((await client.post('/v1/invites', { recipient, role: 'admin' })).status).toBe(201);
    expect(await owners()).toBe(1);
    expect((await client.post('/v1/2fa/step-up', { password: testPassword })).status).toBe(200);
    expect((await patch(client, id, 'owner')).status).toBe(200);
    expect((await transfer(client, person.user.id)).status).toBe(200);
  });

  test('is transferred to a member; both roles change together', async () => {
    const next = await colleague('member');
    expect((await transfer(client, next.person.user.id)).status).toBe(200);
    const { body } = await next.client.get('/v1/memberships');
    const byUser = Object.fromEntries(
      body.data.map(({ user_id, role }: { user_id: string; role: string }) => [user_id, role]),
    );
    expect(byUser).toEqual({ [owner.user.id]: 'admin', [next.person.user.id]: 'owner' });
    expectProblem(await transfer(client, next.person.user.id), 'permission_denied');
    expect((await remove(client, await membershipOf(owner))).status).toBe(204);
  });

  test('is transferred over GraphQL as over REST', async () => {
    const next = await colleague('member');
    const stranger = await buildPerson(world);
    const { id } = owner.organization;
    for (const [by, userId, code] of [
      [client, stranger.user.id, 'not_found'],
      [client, owner.user.id, 'invalid_input'],
      [next.client, next.person.user.id, 'permission_denied'],
      [await signedIn(world, stranger), stranger.user.id, 'not_found'],
    ] as const)
      expectGraphqlError(await transferByGraphql(by, userId), code);
    expect((await transferByGraphql(client, next.person.user.id)).data).toEqual({
      transferOwnership: { organization: { id }, membership: { role: 'OWNER', user: { id: next.person.user.id } } },
    });
    expect(await owners()).toBe(1);
    expectGraphqlError(await transferByGraphql(client, next.person.user.id), 'permission_denied');
  });

  test('is transferred once by fifty requests at once, through either API', async () => {
    const [first, second] = [await colleague('member'), await colleague('admin')];
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => [
        transfer(client, first.person.user.id).then(({ status }) => status === 200),
        transferByGraphql(client, second.person.user.id).then(({ data }) => Boolean(data)),
      ]).flat(),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await owners()).toBe(1);
  });

  test('goes to no stranger, not to oneself, and only from an owner', async () => {
    const stranger = await buildPerson(world);
    const { client: theirs, person } = await colleague('super_admin');
    expectProblem(await transfer(client, stranger.user.id), 'not_found');
    expectProblem(await transfer(client, owner.user.id), 'invalid_input');
    expectProblem(await transfer(theirs, person.user.id), 'permission_denied');
    for (const value of [7, null, [], 'x'.repeat(1_000)])
      expectProblem(
        await client.post(`/v1/organizations/${owner.organization.id}/transfer-ownership`, { user_id: value }),
        'invalid_input',
      );
    expectProblem(await transfer(client, ''), 'not_found');
    await asOwner(world, `update users set status = 'suspended' where id = $1`, [person.user.id]);
    expectProblem(await transfer(client, person.user.id), 'invalid_input');
  });
});

test('a personal organization keeps its owner', async () => {
  const email = 'personal@example.com';
  const password = 'correct horse battery';
  const person = world.client();
  await person.post('/v1/register', { email, password });
  await person.post('/v1/verify', { token: await verificationToken(world, email), password });
  await person.post('/v1/login', { username: email, password });
  const { body } = await person.get('/v1/memberships');
  expectProblem(await remove(person, body.data[0].id), 'last_owner');
});
