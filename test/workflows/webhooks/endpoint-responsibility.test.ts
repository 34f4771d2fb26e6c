import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { createdEndpoint } from '../../kit/events/created-endpoint.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { readmit } from '../../kit/records/readmit.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let admin: Person;
let ownerClient: TestClient;
let adminClient: TestClient;
let sink: WebhookSink;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  admin = await buildPerson(world, { organization: owner.organization, role: 'super_admin' });
  [ownerClient, adminClient] = [await signedIn(world, owner), await signedIn(world, admin)];
  sink = await WebhookSink.open();
});
afterEach(() => sink.close());

const newTask = async () => (await ownerClient.post('/v1/tasks', { title: 'watched' })).body.id as string;
const patch = (client: TestClient, url: string, payload: object) => client.mutate({ method: 'PATCH', url, payload });

async function membershipOf({ user }: Person): Promise<string> {
  const [row] = await asOwner<{ id: string }>(
    world,
    'select id from memberships where user_id = $1 and deleted_at is null',
    [user.id],
  );
  return row?.id ?? '';
}

const changes = {
  'leaves the organization': async () =>
    ownerClient.mutate({ method: 'DELETE', url: `/v1/memberships/${await membershipOf(admin)}` }),
  'leaves and is admitted again': async () => {
    await readmit(world, owner.organization.id, admin);
    return { status: 200 };
  },
  'is no manager any more': async () =>
    patch(ownerClient, `/v1/memberships/${await membershipOf(admin)}`, { role: 'member' }),
  'manages it with fewer rights': async () =>
    patch(ownerClient, `/v1/memberships/${await membershipOf(admin)}`, { role: 'admin' }),
};

test.each(Object.entries(changes))(
  'an endpoint is disabled with a notice when whoever made it %s',
  async (_name, change) => {
    const { path } = await createdEndpoint(adminClient, sink);
    expect((await ownerClient.get(path)).body.responsible_id).toBe(admin.user.id);
    await newTask();
    await eventually(() => sink.received.length === 1);
    expect([200, 204]).toContain((await change()).status);
    await newTask();
    await eventually(async () => (await ownerClient.get(path)).body.disabled_reason === 'rights_lost');
    expect(sink.received).toHaveLength(1);
    await eventually(async () =>
      JSON.stringify((await ownerClient.get('/v1/notifications')).body).includes('has lost the rights'),
    );

    // Whoever enables it answers for it; what was kept is sent again on demand.
    expect((await patch(ownerClient, path, { status: 'enabled' })).body).toMatchObject({
      status: 'enabled',
      responsible_id: owner.user.id,
    });
    await ownerClient.post(`${path}/replay`, {
      since: new Date(world.clock.now().getTime() - 3_600_000).toISOString(),
    });
    await eventually(() => sink.received.length >= 2);
  },
);

test('an endpoint whose responsible person only lacks a second factor waits, and goes on when they have one', async () => {
  const { path } = await createdEndpoint(adminClient, sink);
  await newTask();
  await eventually(() => sink.received.length === 1);
  const before = world.clock.now();
  await enroll(world, ownerClient);
  const setting = await eventually(async () => (await ownerClient.get('/v1/organization-settings')).body.data[0]);
  const settings = `/v1/organization-settings/${setting.id}`;
  expect((await patch(ownerClient, settings, { requires_second_factor: true })).status).toBe(200);
  await newTask();
  const waits = () =>
    asOwner(world, 'select 1 from webhook_queues where next_at > $1 and sending_until is null', [
      new Date(before.getTime() + 30_000),
    ]);
  await eventually(async () => (await waits()).length > 0);
  expect((await ownerClient.get(path)).body).toMatchObject({ status: 'enabled', disabled_reason: null });
  expect((await ownerClient.get(`${path}/messages?status=due`)).body.data).toHaveLength(1);
  expect(sink.received).toHaveLength(1);

  await enroll(world, adminClient);
  world.clock.advance(61_000);
  await eventually(() => sink.received.length === 2);
  expect((await ownerClient.get(path)).body.status).toBe('enabled');
});

test('whoever changes what is sent where answers for the endpoint, and nobody enables one beyond their own rights', async () => {
  const { path } = await createdEndpoint(adminClient, sink);
  await patch(ownerClient, path, { name: 'renamed' });
  expect((await ownerClient.get(path)).body.responsible_id).toBe(admin.user.id);
  await patch(ownerClient, path, { topics: ['task.created'] });
  expect((await ownerClient.get(path)).body.responsible_id).toBe(owner.user.id);

  const notes = await createdEndpoint(ownerClient, sink, { topics: ['note.*'], scopes: ['note:read'] });
  const lesser = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' }));
  await patch(lesser, notes.path, { status: 'disabled' });
  expectProblem(await patch(lesser, notes.path, { status: 'enabled' }), 'permission_denied');
  expect((await patch(ownerClient, notes.path, { status: 'enabled' })).status).toBe(200);
});
