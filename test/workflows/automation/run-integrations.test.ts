import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
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

const asking = (operation: string, input: object) =>
  ({
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE', fields: ['status'] }],
    actions: [
      { key: 'post', type: 'INTEGRATION', params: { integration_id: integrationId, operation, input: input as never } },
    ],
  }) satisfies DefinitionDocument;

/** Publishes a definition that asks the integration when the status of a task changes. */
const publish = (input: object) => publishedVersion(world, owner, asking('messageSend', input));

async function completeTask(): Promise<void> {
  const { body } = await client.post('/v1/tasks', { title: 'Review <the> access rights' });
  const payload = { status: 'completed' };
  expect((await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload })).status).toBe(200);
}

async function run(input: object): Promise<void> {
  await publish(input);
  await completeTask();
}

/** A problem that the journal of an instance tells. */
const toldProblem = (text: string) =>
  eventually(async () => {
    const rows = await asOwner<{ text: string }>(
      world,
      `select details::text as text from workflow_events where organization_id = $1`,
      [owner.organization.id],
    );
    return rows.some((row) => row.text.replaceAll('\\"', '"').includes(text));
  });

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

test('an input that the operation does not take fails the action, and says why', async () => {
  await run({ channel, text: 1 });
  await toldProblem('The input of the operation "messageSend" is refused: /text');
  expect(chat.posted).toEqual([]);
});

test('a definition that names an operation that the integration does not have is refused', async () => {
  const refused = await client.post('/v1/workflow-definitions', {
    name: 'Misspelt',
    record_kind: 'task',
    document: asking('mesageSend', { channel, text: 'x' }),
  });
  expectProblem(refused, 'definition_invalid');
  expect(refused.body.errors).toEqual([
    {
      path: '/document/actions/0/params/operation',
      code: 'integration_operation_unknown',
      message: 'names no operation of the integration: did you mean "messageSend"?',
    },
  ]);
});

test('an operation that a later release does not have any more fails the action, and says why', async () => {
  const { id } = await publish({ channel, text: 'x' });
  await asOwner(
    world,
    `update workflow_versions set document = replace(document::text, 'messageSend', 'messageShout')::jsonb where id = $1`,
    [id],
  );
  await completeTask();
  await toldProblem('has no operation "messageShout"');
  expect(chat.posted).toEqual([]);
});

test('an integration that is not connected, or that the publisher may not edit, is not asked', async () => {
  await client.post(`/v1/integrations/${integrationId}/disconnect`, { keeps_records: true });
  await eventually(async () => (await client.get(`/v1/integrations/${integrationId}`)).body.status === 'disconnected');
  await run({ channel, text: 'nobody' });
  await toldProblem('is disconnected. Connect it first.');
  expect(chat.posted).toEqual([]);
  expect((await runs()).filter(({ trigger }: { trigger: string }) => trigger === 'workflow')).toEqual([]);
});
