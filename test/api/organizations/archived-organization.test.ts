import { afterAll, beforeAll, expect, test } from 'vitest';
import { organization, task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { inviteToken } from '../../kit/identity/verification-token.ts';
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

const archive = (isArchived: boolean, by = client) =>
  by.mutate({
    method: 'PATCH',
    url: `/v1/organizations/${owner.organization.id}`,
    payload: { is_archived: isArchived },
  });

test('an archived organization is read and not changed, until that is taken back', async () => {
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const theirs = await signedIn(world, colleague);
  const { body: kept } = await client.post('/v1/tasks', { title: 'before' });
  const { body: team } = await client.post('/v1/groups', { name: 'A team' });
  const { body: invitation } = await client.post('/v1/invites', { recipient: 'late@example.com' });
  const guest = await buildPerson(world);
  await client.post('/v1/invites', { recipient: guest.user.email });
  const token = await inviteToken(world, guest.user.email);

  expectProblem(await archive(true, theirs), 'permission_denied');
  expect((await archive(true)).body).toMatchObject({ is_archived: true });

  expect((await theirs.get('/v1/tasks')).status).toBe(200);
  expect((await client.get(`/v1/tasks/${kept.id}`)).body.title).toBe('before');
  const settings = (await client.get('/v1/organization-settings')).body.data[0];
  for (const request of [
    { method: 'POST', url: '/v1/tasks', payload: { title: 'after' } },
    { method: 'PATCH', url: `/v1/tasks/${kept.id}`, payload: { title: 'after' } },
    { method: 'DELETE', url: `/v1/tasks/${kept.id}` },
    { method: 'DELETE', url: `/v1/groups/${team.id}` },
    { method: 'POST', url: '/v1/group-memberships', payload: { group_id: team.id, user_id: colleague.user.id } },
    { method: 'POST', url: '/v1/invites', payload: { recipient: 'later@example.com' } },
    { method: 'PATCH', url: `/v1/organization-settings/${settings.id}`, payload: { timezone: 'Europe/Berlin' } },
  ] as const)
    expectProblem(await client.mutate(request), 'organization_archived', JSON.stringify(request));
  const refused = await client.post('/v1/tasks', { title: 'after' });
  expect(refused.body.detail).toContain('PATCH /v1/organizations/{id} {"is_archived": false}');
  expectGraphqlError(
    await client.graphql('mutation ($ids: [ID!]!) { deleteBulkTask(ids: $ids) { deletedIds } }', { ids: [kept.id] }),
    'organization_archived',
  );
  expectProblem(await (await signedIn(world, guest)).post('/v1/invite/accept', { token }), 'organization_archived');
  // The server goes on with what it has to do.
  await asSystem(world, owner.organization.id, (data) => data.update(task, kept.id, { priority: 7 }));

  // What admits people and programs can be ended, and people leave.
  expect((await client.mutate({ method: 'DELETE', url: `/v1/invites/${invitation.id}` })).status).toBe(204);
  const { body: memberships } = await theirs.get('/v1/memberships');
  const own = memberships.data.find((one: { user_id: string }) => one.user_id === colleague.user.id);
  expect((await theirs.mutate({ method: 'DELETE', url: `/v1/memberships/${own.id}` })).status).toBe(204);

  expect((await archive(false)).body).toMatchObject({ is_archived: false });
  expect(
    (await client.mutate({ method: 'PATCH', url: `/v1/tasks/${kept.id}`, payload: { title: 'after' } })).status,
  ).toBe(200);
});

test('a personal organization is not archived', async () => {
  const person = await personalOwner();
  const mine = await signedIn(world, person);
  expectProblem(
    await mine.mutate({
      method: 'PATCH',
      url: `/v1/organizations/${person.organization.id}`,
      payload: { is_archived: true },
    }),
    'permission_denied',
  );
  expectProblem(
    await mine.mutate({ method: 'DELETE', url: `/v1/organizations/${person.organization.id}` }),
    'permission_denied',
  );
});

async function personalOwner(): Promise<Person> {
  const home = await world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, ({ data }) =>
    data.create(organization, { name: 'A person of their own', isPersonal: true }),
  );
  return buildPerson(world, { organization: home });
}
