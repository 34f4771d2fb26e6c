import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { codesOf } from '../../kit/identity/codes-of.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

// A proof of identity is asked of those only whom it helps: the role is judged before.

let world: World;
let owner: Person;
let member: Person;
/** Records of the organization that the attempts are about. */
let made: Record<'setting' | 'membership' | 'token' | 'integration', string>;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
  });
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const client = await signedIn(world, owner);
  const idOf = async (path: string) => (await client.get(path)).body.data[0].id;
  const created = async (path: string, body: object) => (await client.post(path, body)).body.id;
  made = {
    setting: await idOf('/v1/organization-settings'),
    membership: await idOf(`/v1/memberships?user_id=${member.user.id}`),
    token: await created('/v1/api-tokens', { name: 'a program', scopes: ['task:read'] }),
    integration: await created('/v1/integrations', { name: 'chat' }),
  };
});
afterAll(() => world.close());

/** What is tried, and the code that a member gets. */
type Attempt = readonly [name: string, attempt: (by: TestClient) => Promise<TestAnswer>, ofMember: string];

const denied = 'permission_denied';
const endpoint = { name: 'x', url: 'https://93.184.216.34/x', topics: ['task.created'], scopes: ['task:read'] };
const provider = { issuer: 'https://login.example.com', client_id: 'client', client_secret: 'secret' };
const inADay = () => new Date(world.clock.now().getTime() + 86_400_000).toISOString();

const attempts: readonly Attempt[] = [
  ['an API token', (by) => by.post('/v1/api-tokens', { name: 'x', scopes: ['task:read'] }), denied],
  ['a new secret of an API token', (by) => by.post(`/v1/api-tokens/${made.token}/rotate`), 'not_found'],
  ['an endpoint', (by) => by.post('/v1/webhook-endpoints', endpoint), denied],
  [
    'a receiver of an integration',
    (by) => by.post('/v1/integration-webhooks', { integration_id: made.integration, name: 'events' }),
    denied,
  ],
  ['single sign-on', (by) => by.mutate({ method: 'PUT', url: '/v1/sso/provider', payload: provider }), denied],
  ['support access', (by) => by.post('/v1/support-consents', { expires_at: inADay() }), denied],
  [
    'a second factor of all',
    (by) =>
      by.mutate({
        method: 'PATCH',
        url: `/v1/organization-settings/${made.setting}`,
        payload: { requires_second_factor: false },
      }),
    denied,
  ],
  [
    'ownership over REST',
    (by) => by.mutate({ method: 'PATCH', url: `/v1/memberships/${made.membership}`, payload: { role: 'owner' } }),
    denied,
  ],
  [
    'ownership over GraphQL',
    (by) => by.graphql(`mutation { updateMembership(id: "${made.membership}", input: { role: OWNER }) { updatedId } }`),
    denied,
  ],
  [
    'the end of the organization',
    (by) => by.mutate({ method: 'DELETE', url: `/v1/organizations/${owner.organization.id}` }),
    denied,
  ],
  [
    'the end of the organization over GraphQL',
    (by) => by.graphql(`mutation { deleteOrganization(id: "${owner.organization.id}") { deletedId } }`),
    denied,
  ],
];

/** A session whose proof is older than ten minutes. */
async function stale(person: Person): Promise<TestClient> {
  const by = await signedIn(world, person);
  await asOwner(world, `update sessions set proven_at = proven_at - interval '11 minutes' where user_id = $1`, [
    person.user.id,
  ]);
  return by;
}

test.each(attempts)('%s: a member is told that the role does not allow it', async (_name, attempt, code) => {
  expect(codesOf(await attempt(await stale(member)))).toEqual([code]);
});

test.each(attempts)('%s: an owner is asked for a proof, and nothing is changed without it', async (_name, attempt) => {
  const before = await counts();
  expect(codesOf(await attempt(await stale(owner)))).toEqual(['step_up_required']);
  expect(await counts()).toEqual(before);
});

test('acting as a member: a member is told that the role does not allow it, an owner is asked for a proof', async () => {
  const attempt = (by: TestClient, userId: string) =>
    by.post('/v1/impersonation', { user_id: userId, reason: 'a report is empty' });
  expect(codesOf(await attempt(await stale(member), owner.user.id))).toEqual(['permission_denied']);
  const by = await stale(owner);
  const before = await counts();
  expect(codesOf(await attempt(by, member.user.id))).toEqual(['step_up_required']);
  expect(await counts()).toEqual(before);
  expect((await by.post('/v1/2fa/step-up', { password: testPassword })).status).toBe(200);
  expect((await attempt(by, member.user.id)).status).toBe(201);
});

/** Rows and versions of what the attempts would change, and the events. */
function counts(): Promise<unknown[]> {
  return asOwner(
    world,
    `select (select count(*) from api_tokens) as tokens, (select count(*) from webhook_endpoints) as endpoints,
       (select count(*) from integration_webhooks) as receivers, (select count(*) from identity_providers) as providers,
       (select count(*) from support_consents) as consents, (select count(*) from delegations) as delegations,
       (select sum(record_version) from api_tokens) as secrets, (select sum(record_version) from memberships) as roles,
       (select sum(record_version) from organizations) as organizations,
       (select sum(record_version) from organization_settings) as settings`,
  );
}
