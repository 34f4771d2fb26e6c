import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routesOf } from '#api/rest/routes.ts';
import { registry } from '#entities/index.ts';
import type { TokenSort } from '#entities/kit/model/scopes.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { tokenProgram } from '../../kit/processes/token-program.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let admin: Person;
let member: Person;
beforeAll(async () => {
  world = await openWorld({
    worker: ['workflows', 'exports'],
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  [admin, member] = [
    await buildPerson(world, { organization: owner.organization, role: 'admin' }),
    await buildPerson(world, { organization: owner.organization, role: 'member' }),
  ];
});
afterAll(() => world.close());

const sorts = ['api', 'personal'] as const;
const program = (sort: TokenSort, scopes: readonly string[], by = client) =>
  tokenProgram(world, { sort, scopes, by, organizationId: owner.organization.id });

const membershipOf = async ({ user }: Person) =>
  (await client.get(`/v1/memberships?user_id=${user.id}`)).body.data[0].id as string;
const patch = (by: TestClient, url: string, payload: object) => by.request({ method: 'PATCH', url, payload });
const remove = (by: TestClient, url: string) => by.request({ method: 'DELETE', url });

describe('members', () => {
  test.each(sorts)('%s tokens without the scope read or change none', async (sort) => {
    const other = await program(sort, ['task:read']);
    const reader = await program(sort, ['membership:read']);
    const url = `/v1/memberships/${await membershipOf(member)}`;
    expectProblem(await other.get('/v1/memberships'), 'permission_denied');
    expect((await reader.get(url)).body).toMatchObject({ role: 'member' });
    expectProblem(await patch(reader, url, { role: 'auditor' }), 'permission_denied');
    expectProblem(await remove(await program(sort, ['membership:write']), url), 'permission_denied');
  });

  test.each(sorts)('%s tokens make nobody an owner, and take it from nobody', async (sort) => {
    const token = await program(sort, ['membership:delete', 'invite:delete']);
    const second = await buildPerson(world, { organization: owner.organization, role: 'owner' });
    const theirs = `/v1/memberships/${await membershipOf(second)}`;
    const own = `/v1/memberships/${await membershipOf(owner)}`;
    expectProblem(
      await patch(token, `/v1/memberships/${await membershipOf(member)}`, { role: 'owner' }),
      'permission_denied',
    );
    expectProblem(await patch(token, theirs, { role: 'member' }), 'permission_denied');
    expectProblem(await remove(token, theirs), 'permission_denied');
    expectProblem(await remove(token, own), 'permission_denied');
    const invited = { recipient: 'owner@example.com', role: 'owner' };
    expectProblem(await token.request({ method: 'POST', url: '/v1/invites', payload: invited }), 'permission_denied');
  });

  test('a token has no more rights than its person, an API token those of a member', async () => {
    const theirs = await signedIn(world, admin);
    expectProblem(
      await theirs.post('/v1/api-tokens', { name: 'x', scopes: ['membership:write'] }),
      'permission_denied',
    );
    const ofAdmin = await program('personal', ['membership:delete'], theirs);
    const url = `/v1/memberships/${await membershipOf(member)}`;
    expectProblem(await patch(ofAdmin, url, { role: 'auditor' }), 'permission_denied');
    const api = await program('api', ['membership:delete', 'invite:write']);
    expectProblem(await patch(api, url, { role: 'admin' }), 'permission_denied');
    expectProblem(await remove(api, `/v1/memberships/${await membershipOf(admin)}`), 'permission_denied');
    const invited = { recipient: 'admin@example.com', role: 'admin' };
    expectProblem(await api.request({ method: 'POST', url: '/v1/invites', payload: invited }), 'permission_denied');
  });

  test.each(sorts)(
    '%s tokens with the scopes change and remove members, invite, and take invitations back',
    async (sort) => {
      const token = await program(sort, ['membership:delete', 'invite:delete']);
      const one = await buildPerson(world, { organization: owner.organization, role: 'member' });
      const url = `/v1/memberships/${await membershipOf(one)}`;
      expect((await patch(token, url, { role: 'auditor' })).body).toMatchObject({ role: 'auditor' });
      expect((await remove(token, url)).status).toBe(204);
      const payload = { recipient: `${sort}@example.com`, role: 'member' };
      const invited = await token.request({ method: 'POST', url: '/v1/invites', payload });
      expect(invited.status, JSON.stringify(invited.body)).toBe(201);
      const about = `/v1/invites/${invited.body.id}`;
      expect((await token.request({ method: 'POST', url: `${about}/resend`, payload: {} })).status).toBe(202);
      expect((await token.request({ method: 'POST', url: `${about}/withdraw`, payload: {} })).status).toBe(200);
      const withdrawn = await token.graphql(`{ invite(id: "${invited.body.id}") { status } }`);
      expect(withdrawn.data).toEqual({ invite: { status: 'WITHDRAWN' } });
    },
  );
});

describe('shares, endpoints and history', () => {
  test.each(sorts)('%s tokens share what they may edit, with the scope for shares', async (sort) => {
    const { body: task } = await client.post('/v1/tasks', { title: 'shared' });
    const { body: group } = await client.post('/v1/groups', { name: `for ${sort}` });
    const payload = { task_id: task.id, group_id: group.id, relation: 'viewer' };
    const share = (by: TestClient) => by.request({ method: 'POST', url: '/v1/task-shares', payload });
    const reading = ['task:read', 'group:read'];
    expectProblem(await share(await program(sort, ['task:write', 'group:read'])), 'permission_denied');
    expect((await share(await program(sort, [...reading, 'task_share:write']))).status).toBe(403);
    const token = await program(sort, ['task:write', 'group:read', 'task_share:delete']);
    const made = await share(token);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect((await token.get('/v1/task-shares')).body.data).toMatchObject([{ id: made.body.id }]);
    expect((await remove(token, `/v1/task-shares/${made.body.id}`)).status).toBe(204);
  });

  test.each(sorts)(
    '%s tokens change and delete endpoints, but not what is sent where, and enable none',
    async (sort) => {
      const settings = {
        name: `of ${sort}`,
        url: 'https://93.184.216.34/a',
        topics: ['task.*'],
        scopes: ['task:read'],
      };
      const { body: endpoint, status } = await client.post('/v1/webhook-endpoints', settings);
      expect(status, JSON.stringify(endpoint)).toBe(201);
      const url = `/v1/webhook-endpoints/${endpoint.id}`;
      const token = await program(sort, ['webhook_endpoint:delete']);
      expectProblem(
        await patch(await program(sort, ['webhook_endpoint:read']), url, { name: 'x' }),
        'permission_denied',
      );
      for (const change of [
        { url: 'https://93.184.216.35/' },
        { topics: ['*'] },
        { scopes: ['note:read'] },
        { includes_record: true },
      ])
        expectProblem(await patch(token, url, change), 'permission_denied');
      expect((await patch(token, url, { max_in_flight: 2, status: 'disabled' })).body).toMatchObject({
        status: 'disabled',
      });
      expectProblem(await patch(token, url, { status: 'enabled' }), 'permission_denied');
      expectProblem(await token.request({ method: 'POST', url: `${url}/rotate`, payload: {} }), 'permission_denied');
      expect((await remove(token, url)).status).toBe(204);
    },
  );

  test.each(sorts)('%s tokens read the history of the kinds that they read', async (sort) => {
    await client.post('/v1/tasks', { title: 'with a history' });
    const query = '{ taskHistories(first: 1) { edges { node { operation } } } }';
    expect((await (await program(sort, ['note:read'])).graphql(query)).errors).toMatchObject([
      { extensions: { code: 'permission_denied' } },
    ]);
    expect((await (await program(sort, ['task:read'])).graphql(query)).data.taskHistories.edges).toHaveLength(1);
  });
});

test('the reference names every route that is closed to tokens', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/reference/tokens.md'), 'utf8');
  for (const { method, url, access, acceptsTokens } of routesOf(registry))
    expect(text.includes(`\`${method} ${url}\``), `${method} ${url}`).toBe(access === 'required' && !acceptsTokens);
});
