import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhookEvent } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
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

const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;

test('the secret of an endpoint is shown once, is sealed in the table, and is replaced', async () => {
  const { body: integration } = await client.post('/v1/integrations', { name: 'chat' });
  const created = await client.post('/v1/integration-webhooks', {
    integration_id: integration.id,
    name: 'events',
    allowed_events: ['message.created'],
  });
  expect(created.status).toBe(201);
  expect(created.headers.location).toBe(`/v1/integration-webhooks/${created.body.id}`);
  const { id, secret } = created.body;
  expect(secret).toMatch(secretForm);
  expect(created.body).toMatchObject({ name: 'events', status: 'pending', rotated_at: null });
  const { body: read } = await client.get(`/v1/integration-webhooks/${id}`);
  expect(read).not.toHaveProperty('secret');
  const rotated = await client.graphql(
    'mutation ($id: ID!) { rotateIntegrationWebhook(id: $id) { secret integrationWebhook { rotatedAt integration { name } } } }',
    { id },
  );
  expect(rotated.data.rotateIntegrationWebhook).toEqual({
    secret: expect.stringMatching(secretForm),
    integrationWebhook: { rotatedAt: expect.any(String), integration: { name: 'chat' } },
  });
  const stored = JSON.stringify([
    await asOwner(world, 'select * from integration_webhooks'),
    await asOwner(world, 'select * from history'),
    await asOwner(world, 'select * from events'),
  ]);
  for (const shown of [secret, rotated.data.rotateIntegrationWebhook.secret]) expect(stored).not.toContain(shown);
  expectProblem(
    await client.post('/v1/integration-webhooks', { integration_id: integration.id, name: 'events' }),
    'already_exists',
  );
  const made = await client.graphql(
    'mutation ($id: ID!) { createIntegrationWebhook(input: { integrationId: $id, name: "more" }) { secret } }',
    { id: integration.id },
  );
  expect(made.data.createIntegrationWebhook.secret).toMatch(secretForm);
});

test('only managers make endpoints, for integrations of their own organization', async () => {
  const { body: integration } = await client.post('/v1/integrations', { name: 'tickets' });
  const input = { integration_id: integration.id, name: 'events' };
  const member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  // Members do not see integrations at all.
  expectProblem(await member.post('/v1/integration-webhooks', input), 'permission_denied');
  const stranger = await signedIn(world, await buildPerson(world));
  expectProblem(await stranger.post('/v1/integration-webhooks', input), 'not_found');
  expectProblem(await member.post('/v1/integration-webhooks/x/rotate'), 'not_found');
});

test('an integration uses several secrets, and a secret serves several integrations', async () => {
  const { body: secret } = await client.post('/v1/secrets', { name: 'key', value: 'plain' });
  const { body: one } = await client.post('/v1/integrations', { name: 'one', add_secret_ids: [secret.id] });
  const { body: two } = await client.post('/v1/integrations', { name: 'two', add_secret_ids: [secret.id] });
  const { data } = await client.graphql(
    'query ($id: ID!) { secret(id: $id) { integrations { edges { node { id secrets { totalCount } } } } } }',
    { id: secret.id },
  );
  expect(data.secret.integrations.edges.map(({ node }: { node: object }) => node)).toEqual([
    { id: one.id, secrets: { totalCount: 1 } },
    { id: two.id, secrets: { totalCount: 1 } },
  ]);
  await client.mutate({ method: 'DELETE', url: `/v1/integrations/${one.id}` });
  expect((await client.get(`/v1/secrets/${secret.id}`)).status).toBe(200);
});

test('an event of the payment provider is stored once', async () => {
  const context = { caller: systemCaller('test'), requestId: newId() };
  const store = (provider: string) =>
    world.runtime.database.transact(context, ({ data }) =>
      data.create(webhookEvent, { provider, externalId: 'evt_1', type: 'invoice.paid' }),
    );
  await store('stripe');
  const again = await Promise.allSettled(Array.from({ length: 10 }, () => store('stripe')));
  expect(again.map(({ status }) => status)).toEqual(again.map(() => 'rejected'));
  await store('other');
  expect(await asOwner(world, 'select 1 from webhook_events')).toHaveLength(2);
});
