import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { undeleteOrganization } from '#runtime/undelete-organization.ts';
import { asOwner } from '../kit/as-owner.ts';
import { databaseDump } from '../kit/database-dump.ts';
import { doomed, remove, type Doomed } from '../kit/doomed-organization.ts';
import { createdEndpoint } from '../kit/events/created-endpoint.ts';
import { EventSubscriber } from '../kit/events/event-subscriber.ts';
import { startExport } from '../kit/events/started-transfers.ts';
import { eventually } from '../kit/eventually.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { createFile } from '../kit/files/stored-upload.ts';
import { inviteToken } from '../kit/identity/verification-token.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { tokenProgram } from '../kit/processes/token-program.ts';
import { bearerOf } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let url: string;
let sink: WebhookSink;
beforeAll(async () => {
  world = await openWorld({
    environment: {
      CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'd'.repeat(40),
    },
  });
  ({ url } = await world.listen());
  sink = await WebhookSink.open();
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

/** The owner, in the organization that is deleted. */
const ownerIn = ({ owner, id }: Doomed): Person => ({ ...owner, organization: { ...owner.organization, id } });

async function isRemoved(id: string): Promise<boolean> {
  const rows = await asOwner(
    world,
    `select 1 from organization_removals where removed_organization_id = $1 and status = 'completed' and deleted_at is null`,
    [id],
  );
  return rows.length === 1;
}

test('T-01, T-60, T-62, T-70: no credential works in a deleted organization, and those of the organization stay dead when it is undeleted', async () => {
  const gone = await doomed(world, 3);
  const { client, id, owner } = gone;
  const title = `planted ${newId()}`;
  const { body: task } = await client.post('/v1/tasks', { title });
  const scopes = ['task:read'];
  const [ofOrganization, ofPerson] = [
    await tokenProgram(world, { sort: 'api', scopes, by: client, organizationId: id }),
    await tokenProgram(world, { sort: 'personal', scopes, by: client, organizationId: id }),
  ];
  for (const program of [ofOrganization, ofPerson])
    expect((await program.get(`/v1/tasks/${task.id}`)).status).toBe(200);
  const bytes = Buffer.from(`bytes ${newId()}`);
  const file = await createFile(world, ownerIn(gone), client, { bytes });
  const { data } = await client.graphql('query ($id: ID!) { file(id: $id) { content { downloadUrl } } }', {
    id: file.id,
  });
  const { pathname, search } = new URL(data.file.content.downloadUrl);
  const follow = () => world.client().get(pathname + search);
  expect((await follow()).body).toBe(bytes.toString());
  await createdEndpoint(client, sink);
  const portal = (await client.post('/v1/webhook-portal/links', {})).body.url.split('#token=')[1];
  const visit = () => world.client().get('/v1/webhook-portal/endpoints', { 'webhook-portal-token': portal });
  expect((await visit()).status).toBe(200);
  const guest = await buildPerson(world);
  expect((await client.post('/v1/invites', { recipient: guest.user.email, role: 'member' })).status).toBe(201);
  const invitation = await inviteToken(world, guest.user.email);
  const guestClient = await signedIn(world, guest);
  const access = world.client();
  access.bearer = client.cookies.get('access_token');
  const subscriber = await EventSubscriber.open(
    url,
    'subscription { recordChanged(kinds: [TASK]) { operation id cursor record { id ... on Task { title } } } }',
    bearerOf(client),
  );
  await subscriber.next();

  const expectDead = async () => {
    const answers = {
      'API token': await ofOrganization.get(`/v1/tasks/${task.id}`),
      'personal token': await ofPerson.get(`/v1/tasks/${task.id}`),
      'access token': await access.get(`/v1/tasks/${task.id}`),
      'link to a file': await follow(),
      'link to the portal': await visit(),
    };
    for (const [name, { status, body }] of Object.entries(answers)) {
      expect([401, 403, 404, 409], `${name}: ${JSON.stringify(body)}`).toContain(status);
      expect(JSON.stringify(body), name).not.toContain(gone.name);
      expect(JSON.stringify(body), name).not.toContain(title);
    }
    expectProblem(await world.client().post('/v1/invite', { token: invitation }), 'invalid_token');
    expectProblem(await guestClient.post('/v1/invite/accept', { token: invitation }), 'invalid_token');
  };
  expect(await remove(gone)).toMatchObject({ status: 204 });
  await expectDead();
  // The session is that of the person, who stays; it continues outside of the organization.
  expectProblem(await client.get(`/v1/tasks/${task.id}`), 'no_current_organization');
  for (const path of ['/v1/tasks?first=10', '/v1/tasks?deleted=true', '/v1/tasks?search=planted', '/v1/files'])
    expect(JSON.stringify((await client.get(path)).body), path).not.toContain(title);
  expectProblem(await client.post('/v1/switch', { target_organization_id: id }), 'not_found');
  const last = await subscriber.next();
  expect(JSON.stringify(last ?? {})).not.toContain(title);

  const worker = await world.startWorker();
  await eventually(() => isRemoved(id), 60_000);
  await expectDead();
  world.clock.advance(50 * 60_000);
  expect((await client.post('/v1/refresh')).status).toBe(200);
  // In the other organization of the person.
  expectProblem(await client.get(`/v1/tasks/${task.id}`), 'not_found');
  // Secrets are found nowhere; texts are found in rows, which stay deleted, and in their history.
  const secrets = [ofOrganization.bearer, ofPerson.bearer, invitation, portal].map((secret) => secret ?? '');
  const dump = await databaseDump(world);
  for (const [table, rows] of dump)
    for (const row of rows) {
      for (const secret of secrets) expect(row.includes(secret), table).toBe(false);
      if (/\.(events|deliveries|organization_removals)$/.test(table)) expect(row.includes(title), table).toBe(false);
    }
  const logs = JSON.stringify(world.logs);
  for (const text of [...secrets, title]) expect(logs.includes(text)).toBe(false);

  await undeleteOrganization(
    world.runtime.database,
    { organizationId: id },
    { operator: 'tester', reason: 'a mistake' },
  );
  const again = await signedIn(world, owner);
  await eventually(async () => (await again.post('/v1/switch', { target_organization_id: id })).status === 200, 60_000);
  // Rows and bytes are back, and what let somebody in is not.
  expect((await again.get(`/v1/tasks/${task.id}`)).body.title).toBe(title);
  expect((await again.get(`/v1/files/${file.objectId}/download`)).body).toBe(bytes.toString());
  expect([401, 403]).toContain((await ofOrganization.get(`/v1/tasks/${task.id}`)).status);
  // These give no right of their own: they follow the membership of the person, which is back. No endpoint is there to be shown.
  expect((await ofPerson.get(`/v1/tasks/${task.id}`)).status).toBe(200);
  expect((await visit()).body.data).toEqual([]);
  expectProblem(await world.client().post('/v1/invite', { token: invitation }), 'invalid_token');
  expectProblem(await guestClient.post('/v1/invite/accept', { token: invitation }), 'invalid_token');
  await worker.stop();
  const later = undeleteOrganization(
    world.runtime.database,
    { organizationId: id },
    { operator: 'tester', reason: 'again' },
  );
  await expect(later).rejects.toMatchObject({ code: 'not_found' });
});

test('an export that is under way when its organization is deleted is stopped', async () => {
  const gone = await doomed(world, 3);
  // Nobody takes the activities of exports, so that it stays under way.
  const queues = ['workflows', 'events', 'organizations', 'maintenance', 'email', 'integrations'];
  const worker = await world.startWorker(queues);
  await startExport(gone.client, { record_kind: 'task' });
  const running = async () => {
    const types: string[] = [];
    const query = `ExecutionStatus = "Running" AND OrganizationId = "${gone.id}"`;
    for await (const { type } of world.runtime.temporal.client.workflow.list({ query })) types.push(type);
    return types;
  };
  await eventually(async () => (await running()).includes('exportRecords'), 30_000);
  expect(await remove(gone)).toMatchObject({ status: 204 });
  await eventually(async () => (await isRemoved(gone.id)) && !(await running()).includes('exportRecords'), 60_000);
  await worker.stop();
});
