import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

test('the list of sessions marks the one of the request, over REST and GraphQL', async () => {
  const other = await signedIn(world, owner);
  const current: string[] = [];
  for (const by of [client, other]) {
    const { data: listed } = (await by.get('/v1/sessions')).body;
    expect(listed.length).toBeGreaterThanOrEqual(2);
    const own = listed.filter((one: { is_current: boolean }) => one.is_current);
    expect(own).toHaveLength(1);
    current.push(own[0].id);
    for (const { id, is_current: isCurrent } of listed)
      expect((await by.get(`/v1/sessions/${id}`)).body.is_current).toBe(isCurrent);
    const { data } = await by.graphql('{ sessions { edges { node { id isCurrent } } } }');
    const nodes = data.sessions.edges.map(({ node }: { node: object }) => node);
    expect(nodes.filter((node: { isCurrent: boolean }) => node.isCurrent)).toEqual([
      { id: own[0].id, isCurrent: true },
    ]);
  }
  expect(new Set(current).size).toBe(2);
  // Ending the one that is not marked leaves the caller signed in.
  expect((await client.mutate({ method: 'DELETE', url: `/v1/sessions/${current[1]}` })).status).toBe(204);
  expect((await client.get('/v1/sessions')).status).toBe(200);
  expectProblem(await other.get('/v1/sessions'), 'unauthenticated');
});

describe('a slash at the end', () => {
  test('of an address without an id is answered with what is missing', async () => {
    for (const method of ['PATCH', 'DELETE'] as const) {
      const answer = await client.mutate({ method, url: '/v1/tasks/' });
      expectProblem(answer, 'route_not_found');
      expect(answer.body.detail).toBe(
        `There is no route ${method} /v1/tasks/; the id is missing: ${method} /v1/tasks/{id}.`,
      );
    }
  });

  test('is to be removed where that leads to a route with the method, and else not', async () => {
    const made = await client.post('/v1/tasks/', { title: 'x' });
    expect(made.body.detail).toContain('remove the slash at its end: /v1/tasks.');
    const put = await client.mutate({ method: 'PUT', url: '/v1/tasks/' });
    expectProblem(put, 'route_not_found');
    expect(put.body.detail).toBe('There is no route PUT /v1/tasks/; see /docs.');
  });
});

test('a weak entity tag in If-Match is answered with the strong one, which then works', async () => {
  const { body } = await client.post('/v1/tasks', { title: 'weak' });
  const change = (tag: string) =>
    client.mutate({
      method: 'PATCH',
      url: `/v1/tasks/${body.id}`,
      headers: { 'if-match': tag },
      payload: { title: 'strong' },
    });
  const weak = await change('W/"1"');
  expectProblem(weak, 'precondition_failed');
  expect(weak.body.detail).toContain('The weak entity tag W/"1" never matches: send "1".');
  const strong = await change('"7"');
  expectProblem(strong, 'precondition_failed');
  expect(strong.body.detail).not.toContain('weak');
  expect((await change('"1"')).status).toBe(200);
});

test('POST /v1/refresh without cookies and header says what programs send, and that works', async () => {
  const person = await buildPerson(world);
  const login = await world.client().post('/v1/login', { username: person.user.email, password: testPassword });
  const payload = { refresh_token: login.body.refresh_token };
  const send = (headers: Record<string, string> = {}) =>
    world.client().request({ method: 'POST', url: '/v1/refresh', headers, payload });
  const refused = await send();
  expectProblem(refused, 'csrf_token_missing');
  expect(refused.body.detail).toContain('Programs without cookies send the header Authorization instead');
  world.clock.advance(world.config.current.auth.token.accessduration + 60_000);
  const answer = await send({ authorization: `Bearer ${login.body.access_token}` });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
});

describe('a token in the header Authorization', () => {
  /** The problem of a request with it. */
  async function refusalOf(token: string): Promise<string> {
    const by = world.client();
    by.bearer = token;
    const answer = await by.get('/v1/tasks');
    expectProblem(answer, 'unauthenticated');
    return answer.body.detail;
  }
  /** The same token with another signature. */
  const forged = (token: string) => {
    const [header, payload, signature = ''] = token.split('.');
    return [header, payload, Buffer.from(signature, 'base64url').reverse().toString('base64url')].join('.');
  };
  const general = 'The access token is not valid or has expired; sign in again.';

  test('that is a refresh token, or has expired, is answered with the remedy; a forged one is not', async () => {
    const person = await buildPerson(world);
    const login = await world.client().post('/v1/login', { username: person.user.email, password: testPassword });
    const { access_token: access, refresh_token: refresh } = login.body;
    expect(await refusalOf(refresh)).toMatch(
      /^This is a refresh token: send the access token, .* POST \/v1\/refresh\.$/,
    );
    for (const token of [forged(refresh), forged(access)]) expect(await refusalOf(token)).toBe(general);
    world.clock.advance(world.config.current.auth.token.accessduration + 60_000);
    expect(await refusalOf(access)).toMatch(/^The access token has expired: .* POST \/v1\/refresh/);
    expect(await refusalOf(forged(access))).toBe(general);
  });
});

test('a response to a personal token names the organization in which it acted', async () => {
  const person = await buildPerson(world);
  const by = await signedIn(world, person);
  const { body: second } = await by.post('/v1/organizations', { name: `Second of ${person.user.email}` });
  const made = await by.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:write'] });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const program = world.client();
  program.bearer = made.body.token;
  const acted = (headers?: Record<string, string>) => program.post('/v1/tasks', { title: 'where?' }, headers);
  for (const answer of [
    [await acted(), person.organization.id],
    [await acted({ 'x-organization-id': second.id }), second.id],
  ] as const) {
    expect(answer[0].status).toBe(201);
    expect(answer[0].body.organization_id).toBe(answer[1]);
    expect(answer[0].headers['x-organization-id']).toBe(answer[1]);
  }
  expect((await program.get('/v1/tasks')).headers['x-organization-id']).toBe(person.organization.id);
  expect((await by.get('/v1/tasks')).headers['x-organization-id']).toBeUndefined();
});
