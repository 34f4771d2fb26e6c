import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { membership } from '#entities/index.ts';
import { asSystem } from '../../kit/as-person.ts';
import { createdEndpoint, verified } from '../../kit/events/created-endpoint.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { inviteToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

const kinds = [
  'membership',
  'invite',
  'session',
  'personal_access_token',
  'api_token',
  'delegation',
  'export',
  'import',
];
const log = { topics: kinds.map((kind) => `${kind}.*`), scopes: kinds.map((kind) => `${kind}:read`) };

let world: World;
let owner: Person;
let client: TestClient;
let sink: WebhookSink;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40),
    },
  });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  sink = await WebhookSink.open();
});
afterEach(() => sink.close());

const colleague = (role: 'admin' | 'member' = 'member') =>
  buildPerson(world, { organization: owner.organization, role });
const received = (type: string) => sink.bodies.filter((body) => body.type === type);
const arrived = (type: string, count = 1) => eventually(() => received(type).length >= count);

test('only owners and admins let endpoints receive these events, and only with their scopes', async () => {
  const member = await signedIn(world, await colleague());
  const wanted = { name: 'log', url: sink.url, ...log };
  expectProblem(await member.post('/v1/webhook-endpoints', wanted), 'permission_denied');
  for (const scopes of [['session:write'], ['session:delete'], ['user:read'], ['second_factor:read']])
    expectProblem(await client.post('/v1/webhook-endpoints', { ...wanted, scopes }), 'invalid_input', scopes.join());
  expectProblem(await client.post('/v1/webhook-endpoints', { ...wanted, scopes: ['task:read'] }), 'invalid_input');
  expectProblem(
    await client.post('/v1/api-tokens', { name: 'no log', scopes: ['session:read'], expires_at: null }),
    'invalid_input',
  );
  const admin = await signedIn(world, await colleague('admin'));
  expect((await admin.post('/v1/webhook-endpoints', wanted)).status).toBe(201);
  const types = (await client.get('/v1/event-types')).body.data.map(({ type }: { type: string }) => type) as string[];
  for (const type of ['session.created', 'session.deleted', 'session.switched', 'invite.accepted', 'export.completed'])
    expect(types).toContain(type);
});

test('sign-ins and tokens are told to the organizations that they concern, and to no others', async () => {
  const { secret } = await createdEndpoint(client, sink, log);
  const person = await colleague();
  const theirs = await signedIn(world, person);
  await arrived('session.created');
  expect(received('session.created')).toMatchObject([
    { data: { kind: 'session', organization_id: owner.organization.id, details: { user_id: person.user.id } } },
  ]);

  // Somebody of another organization, who becomes a member here without acting here.
  const guest = await buildPerson(world);
  const elsewhere = await signedIn(world, guest);
  await asSystem(world, owner.organization.id, (data) => data.create(membership, { userId: guest.user.id }));
  await arrived('membership.created');
  await signedIn(world, guest);
  const personal = (organizationIds: string[]) =>
    elsewhere.post('/v1/personal-access-tokens', {
      name: 'a program',
      scopes: ['task:read'],
      organization_ids: organizationIds,
    });
  expect((await personal([guest.organization.id])).status).toBe(201);
  const switched = await elsewhere.post('/v1/switch', { target_organization_id: owner.organization.id });
  expect(switched.status).toBe(200);
  await arrived('session.switched');
  expect(received('session.switched')).toMatchObject([{ data: { details: { user_id: guest.user.id } } }]);
  // The organization that they leave learns of it as well.
  const back = await elsewhere.post('/v1/switch', { target_organization_id: guest.organization.id });
  expect(back.status).toBe(200);
  await arrived('session.switched', 2);
  const again = await elsewhere.post('/v1/switch', { target_organization_id: owner.organization.id });
  expect(again.status).toBe(200);
  await arrived('session.switched', 3);
  expect((await personal([])).status).toBe(201);
  await arrived('personal_access_token.created');
  await theirs.post('/v1/logout', {});
  await arrived('session.deleted');
  expect(received('session.created')).toHaveLength(1);
  expect(received('personal_access_token.created')).toMatchObject([{ data: { details: { user_id: guest.user.id } } }]);
  for (const message of sink.received) verified(message, secret, world.clock.now());
});

test('an event of the security log names who has done what, and has no credential', async () => {
  await createdEndpoint(client, sink, { ...log, includes_record: true });
  const secrets: string[] = [];
  const token = await client.post('/v1/api-tokens', { name: 'a program', scopes: ['task:read'] });
  secrets.push(token.body.token, (await client.post(`/v1/api-tokens/${token.body.id}/rotate`, {})).body.token);
  const guest = await buildPerson(world);
  await client.post('/v1/invites', { recipient: guest.user.email });
  const link = await inviteToken(world, guest.user.email);
  const theirs = await signedIn(world, guest);
  expect((await theirs.post('/v1/invite/accept', { token: link })).status).toBe(200);
  await theirs.post('/v1/switch', { target_organization_id: owner.organization.id });
  const own = await theirs.post('/v1/personal-access-tokens', { name: 'mine', scopes: ['task:read'] });
  secrets.push(link, own.body.token, ...theirs.cookies.values());
  await client.post('/v1/impersonation', { user_id: guest.user.id, reason: 'to see what they see' });
  await client.post('/v1/exports', { record_kind: 'task' });
  for (const type of [
    'api_token.created',
    'api_token.rotated',
    'invite.created',
    'invite.accepted',
    'membership.created',
    'session.switched',
    'personal_access_token.created',
    'delegation.begun',
    'export.created',
    'export.completed',
  ])
    await arrived(type);
  expect(received('api_token.created')[0]?.data).toMatchObject({ actor: `user:${owner.user.id}` });
  expect(received('export.created')[0]?.data).toMatchObject({ actor: `user:${owner.user.id}`, record: null });

  const sent = sink.received.map(({ body }) => body).join('\n');
  expect(secrets.filter((secret) => typeof secret === 'string' && secret.length > 8).length).toBeGreaterThan(3);
  for (const secret of secrets) if (secret) expect(sent).not.toContain(secret);
  expect(sent).not.toMatch(/hash|password|key_id/i);
});
