import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { EventSubscriber } from '../../kit/events/event-subscriber.ts';
import { signedIn } from '../../kit/people.ts';
import { SocketSubscriber } from '../../kit/events/socket-subscriber.ts';
import { ended, startExport, startImport } from '../../kit/events/started-transfers.ts';
import { assign, ownerAndMember } from '../../kit/events/told-people.ts';
import { bearerOf, type TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;
const lookBack = 'CORE_SERVER_NOTIFICATIONLOOKBACKDAYS';

let world: World;
let url: string;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  ({ url } = await world.listen());
});
afterAll(() => world.close());

const added = `subscription ($after: String) { notificationAdded(after: $after) { cursor notification { body isRead link } } }`;

interface Added {
  readonly cursor: string | null;
  readonly notification: { readonly body: string; readonly isRead: boolean; readonly link: string } | null;
}

function open(client: TestClient, after?: string | null): Promise<EventSubscriber> {
  return EventSubscriber.open(url, added, bearerOf(client), { after });
}

async function next(subscriber: EventSubscriber): Promise<Added> {
  return (await subscriber.next())?.data.notificationAdded as Added;
}

/** Texts of the earlier notifications, and the cursor behind them. */
async function earlier(subscriber: EventSubscriber): Promise<{ texts: string[]; cursor: string | null }> {
  const texts: string[] = [];
  for (;;) {
    const { notification, cursor } = await next(subscriber);
    if (!notification) return { texts, cursor };
    expect(cursor).toBeNull();
    texts.push(textOf(notification));
  }
}

function textOf({ body }: { readonly body: string }): string {
  return body.replace(/^TSK-\w+: /, '');
}

test('unread notifications come first, with those that were read within the look-back, then new ones', async () => {
  const { owner, member } = await ownerAndMember(world);
  for (const title of ['old and read', 'old and unread']) {
    await assign(owner.client, member.person, title);
    await eventually(() => isSettled(world));
    world.clock.advance(1_000);
  }
  const { body: list } = await member.client.get('/v1/notifications?order_by=created_at');
  await member.client.mutate({
    method: 'PATCH',
    url: `/v1/notifications/${list.data[0].id}`,
    payload: { is_read: true },
  });
  world.clock.advance(10 * dayMs);
  const [boss, reader] = [await signedIn(world, owner.person), await signedIn(world, member.person)];
  const first = await open(reader);
  expect((await earlier(first)).texts).toEqual(['old and read', 'old and unread']);
  first.close();
  await world.reconfigure({ [lookBack]: '9' });
  const subscriber = await open(reader);
  expect((await earlier(subscriber)).texts).toEqual(['old and unread']);
  const others = await open(boss);
  expect((await earlier(others)).texts).toEqual([]);
  await assign(boss, member.person, 'new');
  const { notification, cursor } = await next(subscriber);
  expect(notification).toMatchObject({ isRead: false, link: expect.stringMatching(/^\/tasks\//) });
  expect(textOf(notification as { body: string })).toBe('new');
  subscriber.close();

  await assign(boss, member.person, 'meanwhile');
  const resumed = await open(reader, cursor);
  // The first message only says where it begins.
  expect(await next(resumed)).toMatchObject({ notification: null });
  expect(textOf((await next(resumed)).notification as { body: string })).toBe('meanwhile');
  resumed.close();
  others.close();
});

test('who may no longer view the record gets neither its name nor its link', async () => {
  const { owner, member } = await ownerAndMember(world);
  await assign(owner.client, member.person, 'seen');
  await eventually(() => isSettled(world));
  const subscriber = await open(member.client);
  const { texts, cursor } = await earlier(subscriber);
  expect(texts).toEqual(['seen']);
  subscriber.close();
  for (const title of ['taken away', 'deleted']) await assign(owner.client, member.person, title);
  await eventually(() => isSettled(world));
  const { body } = await owner.client.get('/v1/tasks');
  const idOf = (wanted: string) => body.data.find(({ title }: { title: string }) => title === wanted).id as string;
  await owner.client.mutate({
    method: 'PATCH',
    url: `/v1/tasks/${idOf('taken away')}`,
    payload: { assignee_id: null },
  });
  await owner.client.mutate({ method: 'DELETE', url: `/v1/tasks/${idOf('deleted')}` });
  const again = await open(member.client);
  expect((await earlier(again)).texts).toEqual(['seen']);
  again.close();
  const resumed = await open(member.client, cursor);
  await next(resumed);
  await assign(owner.client, member.person, 'the last');
  expect(textOf((await next(resumed)).notification as { body: string })).toBe('the last');
  resumed.close();
});

test('the progress of an import is told until it has ended, with its problems, to whoever started it', async () => {
  const { owner, member } = await ownerAndMember(world);
  const document = ['title,due_at', 'right,', 'wrong,tomorrow', 'right as well,'].join('\n');
  const { id } = await startImport(world, owner.person, owner.client, document);
  const progress = `subscription ($id: ID!) { importProgress(id: $id) { id status doneRows problems finishedAt } }`;
  const subscriber = await EventSubscriber.open(url, progress, bearerOf(owner.client), { id });
  let last: { readonly status: string; readonly problems: readonly string[] | null } | undefined;
  for (let message = await subscriber.next(); message; message = await subscriber.next()) {
    expect(message.errors).toBeUndefined();
    last = message.data.importProgress;
  }
  const { status, problems } = await ended(owner.client, 'imports', id);
  expect(last).toMatchObject({ status: status.toUpperCase(), problems, finishedAt: expect.any(String) });
  expect(problems?.join()).toContain('tomorrow');
  const foreign = await EventSubscriber.open(url, progress, bearerOf(member.client), { id });
  expect((await foreign.next())?.errors?.[0]?.extensions.code).toBe('not_found');
});

test('the progress of an export is told until it has ended, to whoever started it', async () => {
  const { owner, member } = await ownerAndMember(world);
  for (let index = 0; index < 3; index++) await owner.client.post('/v1/tasks', { title: `task ${index}` });
  const progress = `subscription ($id: ID!) { exportProgress(id: $id) { id status doneRows finishedAt } }`;
  const started = await startExport(owner.client, { record_kind: 'task' });
  const socket = await SocketSubscriber.open(url, { headers: bearerOf(owner.client) });
  socket.subscribe(progress, { id: started.id });
  const seen: string[] = [];
  for (let message = await socket.next(); message; message = await socket.next()) {
    const { id, status, doneRows } = message.data.exportProgress;
    expect(id).toBe(started.id);
    seen.push(status);
    if (status === 'COMPLETED') expect(doneRows).toBe(3);
  }
  expect(seen.at(-1)).toBe((await ended(owner.client, 'exports', started.id)).status.toUpperCase());
  // Not even by others of the organization.
  const other = await SocketSubscriber.open(url, { headers: bearerOf(member.client) });
  other.subscribe(progress, { id: started.id });
  expect((await other.next())?.errors?.[0]?.extensions.code).toBe('not_found');
  other.close();
  // Afterwards there is the final state alone.
  socket.subscribe(progress, { id: started.id });
  expect((await socket.next())?.data.exportProgress.finishedAt).not.toBeNull();
  expect(await socket.next()).toBeUndefined();
  socket.close();
});
