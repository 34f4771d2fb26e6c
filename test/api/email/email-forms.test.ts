import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { changeSettings } from '../../kit/records/organization-settings.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS: '[" Größe.Example "]' },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

/** An address as somebody writes it, and as it is stored. */
function address(): { readonly written: string; readonly stored: string } {
  const name = newId().toLowerCase();
  return { written: `  ${name.toUpperCase()}@Bücher.Example\t`, stored: `${name}@xn--bcher-kva.example` };
}

test('the forms of an e-mail address are one at sign-up, confirmation and sign-in', async () => {
  const { written, stored } = address();
  const by = world.client();
  expect((await by.post('/v1/register', { email: written, password: testPassword })).status).toBe(202);
  for (const url of ['/v1/resend', '/v1/forgot-password'])
    expect((await by.post(url, { email: written })).status, url).toBe(202);
  const token = await verificationToken(world, stored);
  expect((await by.post('/v1/verify', { token, password: testPassword })).status).toBe(200);
  expect(await asOwner(world, 'select email from users where email = $1', [stored])).toHaveLength(1);
  for (const username of [written, stored])
    expect((await world.client().post('/v1/login', { username, password: testPassword })).status).toBe(200);
  const own = { new_email: `  ${owner.user.email.toUpperCase()} `, password: testPassword };
  expectProblem(await client.post('/v1/account/email', own), 'invalid_input');
});

test('the forms of an address are one for invited people and subscribers, in settings and in filters', async () => {
  const { written, stored } = address();
  const invite = await client.post('/v1/invites', { recipient: written });
  expect(invite).toMatchObject({ status: 201, body: { recipient: stored } });
  const subscriber = await client.post('/v1/subscribers', { email: written });
  expect(subscriber).toMatchObject({ status: 201, body: { email: stored } });
  expectProblem(await client.post('/v1/subscribers', { email: stored }), 'already_exists');
  const found = await client.graphql(
    `query ($email: String!) { subscribers(where: { email: { eq: $email } }) { edges { node { email } } } }`,
    { email: written },
  );
  expect(found.data.subscribers.edges).toEqual([{ node: { email: stored } }]);
});

test('the forms of an address are one in the column of people of a document', async () => {
  const { written, stored } = address();
  const member = await buildPerson(world, { email: stored, organization: owner.organization, role: 'member' });
  const mutation = 'mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { assigneeId } } }';
  const { data, errors } = await client.graphql(mutation, { csv: `title,assigneeEmail\na,"${written}"\n` });
  expect(errors).toBeUndefined();
  expect(data.createBulkCSVTask.tasks).toEqual([{ assigneeId: member.user.id }]);
});

test('the forms of a domain are one where it is blocked, of the organization, or of its single sign-on', async () => {
  for (const email of ['a@größe.example', ' A@XN--Gre-6ka8i.example ', 'a@sub.Größe.example'])
    expectProblem(await world.client().post('/v1/register', { email, password: testPassword }), 'invalid_input', email);
  await changeSettings(world, owner.organization.id, { emailDomains: [' Bücher.Example', 'corp.example'] });
  expect((await client.post('/v1/email-domains/verify')).body.domains).toMatchObject([
    { domain: 'xn--bcher-kva.example', record_name: '_core-single-sign-on.xn--bcher-kva.example' },
    { domain: 'corp.example' },
  ]);
  const provider = { issuer: 'https://login.example.com', client_id: 'a', client_secret: 'b' };
  const set = await client.mutate({
    method: 'PUT',
    url: '/v1/sso/provider',
    payload: { ...provider, allowed_domains: ['Bücher.example'] },
  });
  expect(set.body.allowed_domains).toEqual(['xn--bcher-kva.example']);
  const wrong = { ...provider, allowed_domains: ['a@b.example'] };
  expectProblem(await client.mutate({ method: 'PUT', url: '/v1/sso/provider', payload: wrong }), 'invalid_input');
});

test('a text that is no address is refused with an example of one', async () => {
  for (const email of ['a@b@c.example', '"a b"@c.example', 'ä@c.example', 'a@c.example/d']) {
    const answer = await client.post('/v1/subscribers', { email });
    expectProblem(answer, 'invalid_input', email);
    expect(answer.body.errors).toEqual([
      { path: '/email', message: `must be an e-mail address such as name@example.com; it is ${JSON.stringify(email)}` },
    ]);
    expectProblem(await world.client().post('/v1/register', { email, password: testPassword }), 'invalid_input', email);
  }
});
