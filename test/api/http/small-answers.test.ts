import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({ environment: { CORE_AUTH_TOKEN_ISSUER: 'http://127.0.0.1:17608' } });
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

test('security.txt names the support address for less than a year; without one it is not found', async () => {
  const path = '/.well-known/security.txt';
  expectProblem(await world.client().get(path), 'not_found');
  const instance = await world.openInstance({
    environment: { CORE_INTEGRATIONS_EMAIL_SUPPORTEMAIL: 'security@example.com' },
  });
  const { status, headers, body } = await instance.client().get(path);
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/plain; charset=utf-8' });
  expect(body).toMatch(/^Contact: mailto:security@example\.com\nExpires: \d{4}-\d\d-\d\dT00:00:00\.000Z\n/);
  const expiresAt = Date.parse(/Expires: (.*)/.exec(body)?.[1] ?? '');
  expect(expiresAt - world.clock.now().getTime()).toBeLessThan(365 * 86_400_000);
  expect(expiresAt).toBeGreaterThan(world.clock.now().getTime());
});

test('the apps of the operator are named, so that the identity platform accepts the domain as theirs', async () => {
  const path = '/.well-known/microsoft-identity-association.json';
  expectProblem(await world.client().get(path), 'not_found');
  const of = async (environment: Readonly<Record<string, string>>) => {
    const instance = await world.openInstance({ environment });
    const { status, headers, body } = await instance.client().get(path);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    return body.associatedApplications;
  };
  const directory = 'aaaaaaaa-0000-4000-8000-000000000001';
  const chat = 'bbbbbbbb-0000-4000-8000-000000000002';
  expect(
    await of({
      CORE_INTEGRATIONS_DIRECTORYSERVICE_APPLICATIONID: directory,
      CORE_INTEGRATIONS_TEAMCHAT_APPLICATIONID: chat,
    }),
  ).toEqual([{ applicationId: directory }, { applicationId: chat }]);
  expect(await of({ CORE_INTEGRATIONS_TEAMCHAT_APPLICATIONID: chat })).toEqual([{ applicationId: chat }]);
  shows('integrations.directoryservice.applicationid', 'integrations.teamchat.applicationid');
});

test.each(['gzip', 'deflate', 'br', 'GZIP'])('a body in %s is refused before it is read', async (coding) => {
  const answer = await client.mutate({
    method: 'POST',
    url: '/v1/tasks',
    payload: gzipSync('{"title":"x"}'),
    headers: { 'content-type': 'application/json', 'content-encoding': coding },
  });
  expect(answer.headers['accept-encoding']).toBe('identity');
  expectProblem(answer, 'unsupported_media_type');
  expect(answer.body.detail).toContain(`Content-Encoding: ${coding}`);
});

test('a body whose coding is identity is taken', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' };
  const answer = await client.mutate({ method: 'POST', url: '/v1/tasks', payload: '{"title":"x"}', headers });
  expect(answer.status).toBe(201);
});

test('an empty name of an operation is none', async () => {
  const { body } = await client.post('/graphql', { query: '{ self { id } }', operationName: '' });
  expect(body.errors).toBeUndefined();
  expect(body.data.self.id).toBeTypeOf('string');
  const got = await client.get(`/graphql?operationName=&query=${encodeURIComponent('{ self { id } }')}`);
  expect(got.body.data.self.id).toBeTypeOf('string');
});

test('a subscription that is off says so before anything else', async () => {
  const answer = await client.post('/graphql', { query: 'subscription { nothing(of: "this") }' });
  expectProblem(answer, 'subscriptions_disabled');
});

test.each([
  ['/v1/auth/foo/bar', 'see /docs'],
  ['/v1/memberhsips', 'did you mean /v1/memberships? See /docs'],
  ['/v1/invitations', 'did you mean /v1/invites? See /docs'],
])('%s: %s', async (path, remedy) => {
  const answer = await client.get(path);
  expectProblem(answer, 'route_not_found');
  expect(answer.body.detail).toBe(`There is no route GET ${path}; ${remedy}.`);
});

test('the issuer of a second factor has neither port nor colon', async () => {
  const { body } = await client.post('/v1/2fa/setup', {});
  expect(decodeURIComponent(new URL(body.uri).searchParams.get('issuer') ?? '')).toBe('127.0.0.1');
});
