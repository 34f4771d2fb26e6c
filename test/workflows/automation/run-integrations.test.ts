import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { eventually } from '../../kit/eventually.ts';
import { FakeChatWorkspaces } from '../../kit/fakes/integrations/fake-chat-workspace.ts';
import { chatEnvironment, connectChat } from '../../kit/integrations/connected-chat.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const channel = 'C0000000001';

let world: World;
let chat: FakeChatWorkspaces;
let owner: Person;
let client: TestClient;
let integrationId: string;

beforeAll(async () => {
  chat = await FakeChatWorkspaces.start();
  world = await openWorld({
    worker: true,
    environment: { CORE_WORKFLOWS_ENABLED: 'true', ...chatEnvironment(chat) },
    integrations: { urls: chat.urls },
  });
});
afterAll(async () => {
  await world.close();
  await chat.close();
});
beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  const before = chat.requests.length;
  integrationId = await connectChat(chat, client);
  // Its loop has read the people, so that what follows is about the messages.
  await eventually(() => chat.requests.slice(before).some(({ path }) => path === '/api/users.list'));
  chat.posted.length = 0;
});

/** Publishes a definition that asks the integration when the status of a task changes, and changes one. */
async function run(input: object, by = owner, operation = 'messageSend'): Promise<void> {
  await publishedVersion(world, by, {
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE', fields: ['status'] }],
    actions: [
      { key: 'post', type: 'INTEGRATION', params: { integration_id: integrationId, operation, input: input as never } },
    ],
  });
  const { body } = await client.post('/v1/tasks', { title: 'Review <the> access rights' });
  const payload = { status: 'completed' };
  expect((await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload })).status).toBe(200);
}

const ended = () =>
  eventually(async () => {
    const [instance] = await asOwner<{ id: string; status: string; reason: string | null }>(
      world,
      `select id, status, reason from workflow_instances where organization_id = $1 and status in ('completed', 'failed')`,
      [owner.organization.id],
    );
    return instance;
  });

const runs = async () => (await client.get(`/v1/integration-runs?integration_id=${integrationId}`)).body.data;

/** The run of the message, once it has ended. */
const endedRun = () =>
  eventually(async () => {
    const found = (await runs()).find(
      ({ operation_name: name, ended_at: at }: { operation_name: string; ended_at: string | null }) =>
        name === 'messageSend' && at !== null,
    );
    return found as Readonly<Record<string, unknown>> | undefined;
  });

test('an action asks an integration, with values of the record, once; its run has the result', async () => {
  await run({ channel, text: { expr: '"Completed: " + object.title' } });
  const instance = await ended();
  expect(instance).toMatchObject({ status: 'completed' });
  expect(await endedRun()).toMatchObject({
    status: 'succeeded',
    trigger: 'workflow',
    instance_id: instance.id,
    result: { channel, messageId: expect.any(String) },
  });
  expect(chat.posted).toEqual([{ channel, text: 'Completed: Review &lt;the&gt; access rights' }]);
});

test('a message that may have been posted is not posted again', async () => {
  chat.next.push('cut');
  await run({ channel, text: 'perhaps' });
  expect(await endedRun()).toMatchObject({
    status: 'failed',
    error_message: expect.stringContaining('Nobody knows whether the other system has done it'),
  });
  expect(chat.posted).toEqual([]);
});

test('a chat that takes no messages for some time gets the message later', async () => {
  chat.nextError = 'ratelimited';
  await run({ channel, text: 'later' });
  expect(await endedRun()).toMatchObject({ status: 'succeeded' });
  expect(chat.posted).toEqual([{ channel, text: 'later' }]);
});

test.each([
  [{ channel, text: 1 }, 'messageSend', 'The input of the operation "messageSend" is refused: /text'],
  [{ channel, text: 'x' }, 'messagesSend', 'has no operation "messagesSend"'],
])('%j for %s fails the action, and says why', async (input, operation, reason) => {
  await run(input, owner, operation);
  const [problem] = await eventually(async () => {
    const rows = await asOwner<{ text: string }>(
      world,
      `select details::text as text from workflow_events where organization_id = $1`,
      [owner.organization.id],
    );
    const found = rows.filter(({ text }) => text.replaceAll('\\"', '"').includes(reason));
    return found.length > 0 && found;
  });
  expect(problem).toBeDefined();
  expect(chat.posted).toEqual([]);
});

test('an integration that is not connected, or that the publisher may not edit, is not asked', async () => {
  await client.post(`/v1/integrations/${integrationId}/disconnect`, { keeps_records: true });
  await eventually(async () => (await client.get(`/v1/integrations/${integrationId}`)).body.status === 'disconnected');
  await run({ channel, text: 'nobody' });
  await eventually(async () => {
    const rows = await asOwner(
      world,
      `select 1 from workflow_events where organization_id = $1 and details::text like '%is disconnected. Connect it first.%'`,
      [owner.organization.id],
    );
    return rows.length > 0;
  });
  expect(chat.posted).toEqual([]);
  expect((await runs()).filter(({ trigger }: { trigger: string }) => trigger === 'workflow')).toEqual([]);
});
