import { afterAll, beforeAll, expect, test } from 'vitest';
import { loopSignals } from '#workflows/integrations/reconcile-integration.contract.ts';
import { eventually } from '../../kit/eventually.ts';
import { openChatConnections, type ChatConnections } from '../../kit/integrations/chat-connection.ts';

let ground: ChatConnections;

beforeAll(async () => {
  ground = await openChatConnections({ worker: true });
});
afterAll(() => ground.close());

test('the loop of an operation ends when the organization switches it off, and begins again when it is on', async () => {
  const id = await ground.connect('T1');
  const client = await ground.client();
  const { temporal } = ground.world.runtime;
  const loop = temporal.client.workflow.getHandle(`${ground.world.name}/integration-loop/${id}/directorySync`);
  const isRunning = async () => (await loop.describe()).status.name === 'RUNNING';
  const runs = async () => (await client.get('/v1/integration-runs')).body.data.length;
  await eventually(async () => (await isRunning()) && (await runs()) > 0);
  const configure = (userInput: object) =>
    client.post('/v1/integrations/chat/config', { integration_id: id, user_input: userInput });
  expect((await configure({ disabledOperations: ['directorySync'] })).status).toBe(200);
  await eventually(async () => (await loop.describe()).status.name === 'COMPLETED');
  const { events } = await loop.fetchHistory();
  expect(events?.map(({ workflowExecutionSignaledEventAttributes: signaled }) => signaled?.signalName)).toContain(
    loopSignals.configChanged,
  );
  expect((await client.get(`/v1/integrations/${id}`)).body).toMatchObject({ status: 'connected', next_sync_at: null });
  expect((await configure({})).status).toBe(200);
  await eventually(isRunning);
  await eventually(async () => (await client.get(`/v1/integrations/${id}`)).body.next_sync_at !== null);
});

test('a directory is read again when it becomes the primary one, because members follow from it', async () => {
  const id = await ground.connect('T2');
  const client = await ground.client();
  const runs = async () => (await client.get(`/v1/integration-runs?integration_id=${id}`)).body.data;
  await eventually(async () => (await runs())[0]?.status === 'succeeded');
  const { status } = await client.mutate({
    method: 'PATCH',
    url: `/v1/integrations/${id}`,
    payload: { is_primary_directory: true },
  });
  expect(status).toBe(200);
  await eventually(async () => (await runs()).length === 2);
});
