import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeDirectoryService } from '../../kit/fakes/integrations/fake-directoryservice.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const [tenantId, otherTenantId] = ['aaaaaaaa-1111-4111-8111-000000000001', 'bbbbbbbb-2222-4222-8222-000000000002'];
const administrator = '00000000-0000-4000-8000-000000000001';

let world: World;
let fake: FakeDirectoryService;
let now = () => new Date();

beforeAll(async () => {
  fake = await FakeDirectoryService.start(() => now());
  for (const id of [tenantId, otherTenantId])
    fake.addTenant(id, { name: `Tenant ${id}`, users: [{ id: administrator, accountEnabled: true }] });
  world = await openWorld({
    environment: {
      CORE_INTEGRATIONS_DIRECTORYSERVICE_CLIENTID: fake.client.id,
      CORE_INTEGRATIONS_DIRECTORYSERVICE_CLIENTSECRET: fake.client.secret,
      CORE_INTEGRATIONS_DIRECTORYSERVICE_REDIRECTURL: 'https://api.test/v1/integrations/auth/callback',
    },
    integrations: { urls: fake.urls },
  });
  now = () => world.clock.now();
});
afterAll(async () => {
  await world.close();
  await fake.close();
});

async function begin(client: TestClient): Promise<{ readonly id: string; readonly authUrl: string }> {
  const { status, body } = await client.post('/v1/integrations/auth/start', { definition_id: 'directoryservice' });
  expect({ status, body }).toMatchObject({ status: 200 });
  return { id: body.id, authUrl: body.auth_url };
}

const returnTo = (client: TestClient, { pathname, search }: URL) => client.get(pathname + search);

/** Goes through both steps. @returns the answer to the second one */
async function connect(client: TestClient, authUrl: string, signedInTo: string) {
  const consented = await returnTo(client, fake.consent(authUrl, tenantId));
  expect(consented.status).toBe(302);
  const second = String(consented.headers.location);
  expect(new URL(second).pathname).toBe(`/${tenantId}/oauth2/v2.0/authorize`);
  return returnTo(client, fake.approve(second, { tenantId: signedInTo, id: administrator }));
}

test('a tenant is connected after the consent and the sign-in of its administrator', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const { id, authUrl } = await begin(client);
  const { status } = await connect(client, authUrl, tenantId);
  expect(status).toBe(302);
  const { body } = await client.get(`/v1/integrations/${id}`);
  expect(body).toMatchObject({ status: 'connected', account_id: tenantId, account_name: `Tenant ${tenantId}` });
});

test('a tenant that has consented before is not connected by an administrator of another one', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const { id, authUrl } = await begin(client);
  expectProblem(await connect(client, authUrl, otherTenantId), 'integration_refused');
  const { body } = await client.get(`/v1/integrations/${id}`);
  expect(body).toMatchObject({ status: 'pending', account_id: null });
});

test('the second step is finished in the browser that made the first one only, and not with the state of the first', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const { id, authUrl } = await begin(client);
  const consent = fake.consent(authUrl, tenantId);
  const consented = await returnTo(client, consent);
  const back = fake.approve(String(consented.headers.location), { tenantId, id: administrator });
  const other = await signedIn(world, await buildPerson(world));
  const before = fake.requests.length;
  expectProblem(await returnTo(other, back), 'provider_sign_in_failed');
  back.searchParams.set('state', consent.searchParams.get('state') ?? '');
  expectProblem(await returnTo(client, back), 'provider_sign_in_failed');
  expect(fake.requests).toHaveLength(before);
  const { body } = await client.get(`/v1/integrations/${id}`);
  expect(body).toMatchObject({ status: 'pending' });
});
