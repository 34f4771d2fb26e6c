import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { membership, organization } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

// What the core of a product with tenants promises, one probe each. The details are in the tests of each part.

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

async function colleague(role: 'admin' | 'member' = 'member') {
  const person = await buildPerson(world, { organization: owner.organization, role });
  const [held] = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [
    person.user.id,
  ]);
  return { person, client: await signedIn(world, person), membershipId: held?.id ?? '' };
}

const program = (bearer: string): TestClient => {
  const by = world.client();
  by.bearer = bearer;
  return by;
};

describe('groups', () => {
  test('a second member does not see a private group, and sees a public one', async () => {
    const { client: theirs } = await colleague();
    const group = async (visibility: string): Promise<string> => {
      const { body } = await client.post('/v1/groups', { name: `${visibility} group` });
      expect((await client.post('/v1/group-settings', { group_id: body.id, visibility })).status).toBe(201);
      return body.id;
    };
    expectProblem(await theirs.get(`/v1/groups/${await group('private')}`), 'not_found');
    expect((await theirs.get(`/v1/groups/${await group('public')}`)).status).toBe(200);
  });

  test('a person who is no member gets no role in a group, and a group of another organization is not there', async () => {
    const stranger = await buildPerson(world);
    const { body: group } = await client.post('/v1/groups', { name: 'ours' });
    expectProblem(
      await client.post('/v1/group-memberships', { group_id: group.id, user_id: stranger.user.id }),
      'not_found',
    );
    const theirs = await signedIn(world, stranger);
    const { body: foreign } = await theirs.post('/v1/groups', { name: 'theirs' });
    const { person } = await colleague();
    expectProblem(
      await client.post('/v1/group-memberships', { group_id: foreign.id, user_id: person.user.id }),
      'not_found',
    );
  });
});

describe('tokens', () => {
  test('a personal token acts in the organization that the request names, of those it is for, and in no other', async () => {
    const second = await buildPerson(world);
    await asSystem(world, second.organization.id, (data) =>
      data.create(membership, { userId: owner.user.id, role: 'admin' }),
    );
    const ids = [owner.organization.id, second.organization.id];
    const made = await client.post('/v1/personal-access-tokens', {
      name: 'two organizations',
      scopes: ['task:write'],
      organization_ids: ids,
    });
    expect(made.status).toBe(201);
    const by = program(made.body.token);
    for (const id of ids) {
      const answer = await by.post('/v1/tasks', { title: `in ${id}` }, { 'x-organization-id': id });
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      const [row] = await asOwner<{ home: string }>(world, 'select organization_id as home from tasks where id = $1', [
        answer.body.id,
      ]);
      expect(row?.home).toBe(id);
    }
    const third = await buildPerson(world);
    expectProblem(await by.get('/v1/tasks', { 'x-organization-id': third.organization.id }), 'unauthenticated');
  });

  test('an API token without the scope is refused', async () => {
    const made = await client.post('/v1/api-tokens', { name: 'reader', scopes: ['task:read'] });
    const by = program(made.body.token);
    expect((await by.get('/v1/tasks')).status).toBe(200);
    expectProblem(await by.post('/v1/tasks', { title: 'without the scope' }), 'permission_denied');
  });

  test('a token is shown once', async () => {
    for (const path of ['/v1/api-tokens', '/v1/personal-access-tokens']) {
      const made = await client.post(path, { name: 'once', scopes: ['task:read'] });
      expect(made.status).toBe(201);
      const secret: string = made.body.token;
      for (const { body } of [await client.get(path), await client.get(`${path}/${made.body.id}`)])
        expect(JSON.stringify(body)).not.toContain(secret.slice(-20));
    }
  });
});

describe('people', () => {
  test('the last owner is neither removed nor demoted', async () => {
    const [own] = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [
      owner.user.id,
    ]);
    const url = `/v1/memberships/${own?.id}`;
    expectProblem(await client.mutate({ method: 'PATCH', url, payload: { role: 'member' } }), 'last_owner');
    expectProblem(await client.mutate({ method: 'DELETE', url }), 'last_owner');
    const { client: admin } = await colleague('admin');
    expectProblem(await admin.mutate({ method: 'DELETE', url }), 'permission_denied');
  });

  test('an invitation is sent again six times, and refused the seventh', async () => {
    const { body } = await client.post('/v1/invites', { recipient: 'patient@example.com' });
    for (let attempt = 1; attempt <= 6; attempt++)
      expect((await client.post(`/v1/invites/${body.id}/resend`)).status, String(attempt)).toBe(202);
    const refused = await client.post(`/v1/invites/${body.id}/resend`);
    expect([refused.status, refused.body.code]).toEqual([422, 'limit_exceeded']);
  });

  test('nobody invites themselves, or whoever is a member', async () => {
    const { person } = await colleague();
    for (const recipient of [owner.user.email, person.user.email.toUpperCase()])
      expectProblem(await client.post('/v1/invites', { recipient }), 'already_exists');
  });

  test('whoever is no member gets no role', async () => {
    const stranger = await buildPerson(world);
    const answer = await client.post(`/v1/organizations/${owner.organization.id}/transfer-ownership`, {
      user_id: stranger.user.id,
    });
    expectProblem(answer, 'not_found');
  });
});

describe('organizations', () => {
  const remove = (id: string, by = client) => by.mutate({ method: 'DELETE', url: `/v1/organizations/${id}` });

  test('deleting one hides it at once and frees its name', async () => {
    const name = `Short life ${newId().slice(-6)}`;
    const { body: made } = await client.post('/v1/organizations', { name });
    expectProblem(await client.post('/v1/organizations', { name }), 'already_exists');
    await client.post('/v1/switch', { target_organization_id: made.id });
    const { body: task } = await client.post('/v1/tasks', { title: 'goes with it' });
    expect((await remove(made.id)).status).toBe(204);
    expectProblem(await client.get(`/v1/organizations/${made.id}`), 'not_found');
    expectProblem(await client.get(`/v1/tasks/${task.id}`), 'no_current_organization');
    const again = await signedIn(world, owner);
    expect((await again.post('/v1/organizations', { name })).status).toBe(201);
  });

  test('a name that was deleted can be used again', async () => {
    const { body: first } = await client.post('/v1/groups', { name: 'Reused' });
    expectProblem(await client.post('/v1/groups', { name: 'Reused' }), 'already_exists');
    expect((await client.mutate({ method: 'DELETE', url: `/v1/groups/${first.id}` })).status).toBe(204);
    expect((await client.post('/v1/groups', { name: 'Reused' })).status).toBe(201);
  });

  test('a personal one is neither deleted, nor archived, nor joined', async () => {
    const home = await world.runtime.database.transact(
      { caller: systemCaller('test'), requestId: newId() },
      ({ data }) => data.create(organization, { name: `personal ${newId()}`, isPersonal: true }),
    );
    const mine = await signedIn(world, await buildPerson(world, { organization: home }));
    expectProblem(await remove(home.id, mine), 'permission_denied');
    expectProblem(await mine.post('/v1/invites', { recipient: 'guest@example.com' }), 'permission_denied');
    expectProblem(
      await mine.mutate({ method: 'PATCH', url: `/v1/organizations/${home.id}`, payload: { is_archived: true } }),
      'permission_denied',
    );
  });
});
