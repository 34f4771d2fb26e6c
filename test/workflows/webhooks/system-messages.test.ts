import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { FailingWorkNotes } from '#activities/kit/failing-work-notes.ts';
import { plainChatText } from '#entities/kit/base/plain-chat-text.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { createLogger } from '#runtime/logger.ts';
import { configuredErrorHandler } from '#worker/interceptors/error-handler.ts';
import { failingActivityInterceptor } from '#worker/interceptors/failing-activities.ts';
import { sendSystemMessageContract } from '#workflows/identity/send-system-message.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { announce } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { failingRecord, fragileListener } from '../../kit/events/failing-deliveries.ts';
import { FakeChat } from '../../kit/fakes/fake-chat.ts';
import { runsOf, waitForRuns } from '../../kit/runs.ts';
import { shows } from '../../kit/shows.ts';
import { sweep } from '../../kit/sweep.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';
import { portableHistory } from '../../histories/portable-history.ts';

const fragile = fragileListener('watched', 'watched.changed');
const password = 'correct horse battery';
let world: World;
let chat: FakeChat;

const bot = () => ({
  CORE_INTEGRATIONS_CHATRUNTIME_BOTTOKEN: chat.token,
  CORE_INTEGRATIONS_CHATRUNTIME_DEFAULTCHANNEL: chat.channel,
  CORE_INTEGRATIONS_CHATRUNTIME_WEBHOOKURL: chat.webhookUrl,
});

beforeAll(async () => {
  chat = await FakeChat.start();
  world = await openWorld({
    worker: true,
    listeners: [fragile],
    chat: { url: chat.url, operatorPauseMs: 200 },
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
    },
  });
});
afterAll(async () => {
  await world.close();
  await chat.close();
});
beforeEach(async () => {
  expect((await world.reconfigure(bot())).outcome).not.toBe('refused');
});
afterEach(() => armFailpoints([]));

/** Somebody signs up and confirms the address. @returns the address */
async function newUser(): Promise<string> {
  const email = `${newId().toLowerCase()}@example.com`;
  const person = world.client();
  await person.post('/v1/register', { email, password });
  const { status, body } = await person.post('/v1/verify', { token: await verificationToken(world, email), password });
  expect(status, JSON.stringify(body)).toBe(200);
  return email;
}

const postedAbout = (text: string) => chat.posted.filter((message) => message.text.includes(text));

interface StoredMessage {
  readonly key: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
}

/** The message about a new user, once it is in this state. */
const untilState = (email: string, state: string) =>
  eventually(async () => {
    const [message] = await asOwner<StoredMessage>(
      world,
      `select m.key, m.state, m.attempts, m.error from users u join events e on e.entity_id = u.id and e.topic = 'user.confirmed'
       join system_messages m on m.key = e.id || '/notify-new-user' where u.email = $1`,
      [email],
    );
    return message?.state === state && message;
  });

test('a new user is told of once, by the bot in its channel', async () => {
  const email = await newUser();
  await eventually(() => postedAbout(email).length > 0);
  expect(postedAbout(email)).toEqual([{ by: 'bot', channel: chat.channel, text: `New user: ${email}` }]);
  expect(await untilState(email, 'sent')).toMatchObject({ attempts: 1, error: null });
});

test('without a bot the incoming webhook is used, and without both nothing is done', async () => {
  shows('integrations.chatruntime.webhookURL', 'integrations.chatruntime.defaultChannel');
  await world.reconfigure({ ...bot(), CORE_INTEGRATIONS_CHATRUNTIME_DEFAULTCHANNEL: undefined });
  const email = await newUser();
  await eventually(() => postedAbout(email).length > 0);
  expect(postedAbout(email)).toEqual([{ by: 'webhook', channel: chat.channel, text: `New user: ${email}` }]);

  const before = (await runsOf(world, 'WorkflowType = "sendSystemMessage"')).length;
  await world.reconfigure({
    ...bot(),
    CORE_INTEGRATIONS_CHATRUNTIME_BOTTOKEN: undefined,
    CORE_INTEGRATIONS_CHATRUNTIME_WEBHOOKURL: undefined,
  });
  const unseen = await newUser();
  await eventually(
    async () =>
      (await asOwner(world, `select 1 from account_emails where template = 'welcome' and status = 'sent'`)).length >= 3,
  );
  expect(await runsOf(world, 'WorkflowType = "sendSystemMessage"')).toHaveLength(before);
  expect(postedAbout(unseen)).toEqual([]);
});

test.each(['limit', 'fail'] as const)(
  'a message that the platform did not take (%s) is posted later',
  async (behaviour) => {
    chat.next.push(behaviour);
    const email = await newUser();
    await eventually(() => postedAbout(email).length > 0);
    expect(await untilState(email, 'sent')).toMatchObject({ attempts: 2 });
    expect(postedAbout(email)).toHaveLength(1);
  },
);

test('a message that was posted without an answer is not posted again, and operators see it', async () => {
  chat.next.push('accept-and-cut');
  const email = await newUser();
  const { key } = await untilState(email, 'uncertain');
  await eventually(
    async () => (await runsOf(world, `WorkflowId = "${world.name}/chat/${key}"`))[0]?.status === 'COMPLETED',
  );
  expect(postedAbout(email)).toHaveLength(1);
  expect(world.logs).toContainEqual(expect.objectContaining({ key, level: 'error' }));
});

test.each(['accept-with-page', 'accept-with-504'] as const)(
  'a message is not sent again when the answer says nothing about it (%s)',
  async (behaviour) => {
    chat.next.push(behaviour);
    const email = await newUser();
    expect(await untilState(email, 'uncertain')).toMatchObject({ attempts: 1 });
    expect(postedAbout(email)).toHaveLength(1);
  },
);

test('a message is not sent again when its process dies after it', async () => {
  armFailpoints([{ name: 'chat-posted', action: 'throw', after: 0 }]);
  const email = await newUser();
  expect(await untilState(email, 'uncertain')).toMatchObject({ attempts: 1 });
  expect(postedAbout(email)).toHaveLength(1);
});

test('a message that is refused waits for another token, with the word of the platform', async () => {
  shows('integrations.chatruntime.botToken');
  await world.reconfigure({ ...bot(), CORE_INTEGRATIONS_CHATRUNTIME_BOTTOKEN: 'another token' });
  const email = await newUser();
  expect(await untilState(email, 'waiting')).toMatchObject({ error: 'invalid_auth' });
  await world.reconfigure(bot());
  await untilState(email, 'sent');
  expect(postedAbout(email)).toHaveLength(1);
});

test('neither token nor URL is in a row, a workflow or the log', async () => {
  const secrets = [chat.token, 'secret-of-the-webhook', 'another token'];
  const rows = await asOwner(world, `select * from system_messages`);
  const histories: string[] = [];
  for (const { id } of await runsOf(world, 'WorkflowType = "sendSystemMessage"')) {
    const history = await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${id}`).fetchHistory();
    const text = await portableHistory(history, { codec: world.runtime.temporal.codec, prefix: world.name });
    histories.push(
      text,
      ...Array.from(text.matchAll(/"data": "([^"]+)"/g), ([, data = '']) => Buffer.from(data, 'base64').toString()),
    );
  }
  expect(histories.join('\n')).toContain('new-user');
  for (const secret of secrets)
    for (const place of [JSON.stringify(rows), histories.join('\n'), JSON.stringify(world.logs)])
      expect(place).not.toContain(secret);
});

test('deliveries that wait for an operator are told of once an hour and listener', async () => {
  const entityIds = [newId(), newId(), newId()];
  for (const entityId of entityIds) fragile.broken.add(entityId);
  for (const entityId of entityIds) await announce(world, [{ topic: 'watched.changed', entityId }]);
  const told = () => postedAbout('The listener watched keeps failing on watched.changed');
  await eventually(() => entityIds.every((entityId) => (fragile.attempts.get(entityId) ?? 0) >= 2));
  await eventually(() => told().length > 0);
  const open = await waitForRuns(world, 'WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"', 3);
  fragile.broken.clear();
  for (const { id } of open)
    await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${id}`).signal('retryDelivery');
  await eventually(
    async () => (await runsOf(world, 'WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"')).length === 0,
  );
  expect(told()).toHaveLength(1);
});

test('a delivery with any number of attempts waits for nobody, whatever new ones get', async () => {
  const failing = await failingRecord(world, fragile);
  await failing.isWaiting();
  await failing.handle.terminate();
  // Of the next hour there is no message yet.
  world.clock.advance(3_600_000);
  const told = () => postedAbout('The listener watched keeps failing on watched.changed').length;
  const [before, attempts] = [told(), fragile.attempts.get(failing.entityId) ?? 0];
  const { workflowId } = failing.handle;
  const [, eventId = ''] = workflowId.slice(world.name.length + 1).split('/');
  const [event] = await asOwner<{ occurredAt: Date; requestId: string }>(
    world,
    'select occurred_at as "occurredAt", request_id as "requestId" from events where id = $1',
    [eventId],
  );
  const { temporal } = world.runtime;
  const queue = temporal.activityQueue('events');
  const input = {
    eventId,
    occurredAt: event?.occurredAt.toISOString(),
    listener: 'watched',
    // What JSON makes of any number.
    queue: { ...queue, retry: { ...queue.retry, maximumAttempts: null, initialIntervalMs: 10 } },
    requestId: event?.requestId,
    topic: 'watched.changed',
    organizationId: null,
    entityKind: 'watched',
    entityId: failing.entityId,
  };
  const taskQueue = temporal.taskQueue('workflows');
  const handle = await temporal.client.workflow.start('deliverEvent', { taskQueue, workflowId, args: [input] });
  await eventually(() => (fragile.attempts.get(failing.entityId) ?? 0) >= attempts + 3);
  failing.mend();
  expect(await handle.result()).toBe('done');
  expect(told()).toBe(before);
});

test('a listener that is held is told of also when whoever held it died before telling', async () => {
  await asOwner(world, `insert into listener_states (listener, failures, held_at) values ('watched', 20, $1)`, [
    world.clock.now(),
  ]);
  await sweep(world);
  await eventually(() => postedAbout('The listener watched fails on everything').length > 0);
});

test('names cannot mention anybody or make a link', () => {
  expect(plainChatText('<!channel> <https://evil.example|here> & co')).toBe(
    '&lt;!channel&gt; &lt;https://evil.example|here&gt; &amp; co',
  );
});

test('an activity that fails for good is logged, or told of in the chat, as ErrorHandler says', async () => {
  shows('jobqueue.queueconf.ErrorHandler');
  const { config, runtime } = world;
  const { database, temporal } = runtime;
  const lines: string[] = [];
  const logger = createLogger('test', { level: 'error' }, { write: (line: string) => void lines.push(line) });
  const onFailed = configuredErrorHandler({ config, database, temporal, logger });
  const workflowExecution = { workflowId: `${world.name}/handled`, runId: newId() };
  const info = { workflowExecution, workflowType: 'handledWork', activityType: 'handle', attempt: 1 };
  const intercepted = failingActivityInterceptor(
    new FailingWorkNotes({ database, temporal }),
    onFailed,
    createLogger('test', { level: 'silent' }),
  );
  const fail = (workflowType = info.workflowType) =>
    intercepted({ info: { ...info, workflowType, retryPolicy: { maximumAttempts: 1 } } } as Context).inbound?.execute?.(
      { args: [], headers: {} },
      () => Promise.reject(ApplicationFailure.create({ type: 'internal', message: 'it broke' })),
    );
  const told = () => lines.filter((line) => line.includes('an activity has failed for good'));

  await expect(fail()).rejects.toThrow('it broke');
  expect(told()).toEqual([]);
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_ERRORHANDLER: 'log' });
  await expect(fail()).rejects.toThrow('it broke');
  expect(told()).toHaveLength(1);
  expect(JSON.parse(told()[0] ?? '')).toMatchObject({ workflow: 'handledWork', activity: 'handle' });
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_ERRORHANDLER: 'chat' });
  await expect(fail()).rejects.toThrow('it broke');
  await eventually(() => postedAbout('Work of handledWork has failed for good').length === 1);
  // A message that fails is not told of by another one.
  const start = vi.spyOn(temporal, 'start');
  await expect(fail(sendSystemMessageContract.name)).rejects.toThrow('it broke');
  expect(start).not.toHaveBeenCalled();
  start.mockRestore();
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_ERRORHANDLER: undefined });
});
