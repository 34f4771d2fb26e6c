import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { isSettled, storedDeliveries } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let colleague: Person;
let theirs: TestClient;

beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  ({ person: colleague, client: theirs } = await member());
});

async function member(): Promise<{ readonly person: Person; readonly client: TestClient }> {
  const person = await buildPerson(world, { organization: owner.organization, role: 'member' });
  return { person, client: await signedIn(world, person) };
}

const settled = () => eventually(() => isSettled(world));
const mention = ({ user }: Person, name = 'Somebody') => `@[${name}](user:${user.id})`;
const patch = (by: TestClient, url: string, payload: object): Promise<TestAnswer> =>
  by.mutate({ method: 'PATCH', url, payload });

async function created(by: TestClient, path: string, input: object): Promise<string> {
  const { status, body } = await by.post(`/v1/${path}`, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** What a person finds in their list, the oldest first. */
async function inbox(by: TestClient) {
  await settled();
  const { body } = await by.get('/v1/notifications?order_by=created_at&count=true');
  expect(body.total_count).toBe(body.data.length);
  return body.data;
}

describe('a task that is assigned', () => {
  test('is told to the assignee, over REST and GraphQL, and to nobody else', async () => {
    const id = await created(client, 'tasks', { title: 'review it', assignee_id: colleague.user.id });
    const [told, ...others] = await inbox(theirs);
    expect(others).toEqual([]);
    expect(told).toMatchObject({
      user_id: colleague.user.id,
      type: 'user',
      topic: 'task.assigned',
      title: `${owner.user.displayName} assigned a task to you`,
      body: expect.stringMatching(/^TSK-\w+: review it$/),
      target_kind: 'task',
      target_id: id,
      is_read: false,
      read_at: null,
    });
    expect(await inbox(client)).toEqual([]);
    const { data } = await theirs.graphql(
      '{ notifications(where: { isRead: { eq: false } }) { totalCount edges { node { id topic targetKind targetId user { id } } } } }',
    );
    expect(data.notifications).toEqual({
      totalCount: 1,
      edges: [
        {
          node: {
            id: told.id,
            topic: 'task.assigned',
            targetKind: 'TASK',
            targetId: id,
            user: { id: colleague.user.id },
          },
        },
      ],
    });
    expectProblem(await client.get(`/v1/notifications/${told.id}`), 'not_found');
    expectProblem(await patch(client, `/v1/notifications/${told.id}`, { is_read: true }), 'not_found');
  });

  test('is not told to who acted, nor again while the assignee stays the same', async () => {
    const id = await created(theirs, 'tasks', { title: 'mine', assignee_id: colleague.user.id });
    expect(await inbox(theirs)).toEqual([]);
    await patch(theirs, `/v1/tasks/${id}`, { assignee_id: owner.user.id });
    expect(await inbox(client)).toHaveLength(1);
    await patch(theirs, `/v1/tasks/${id}`, { title: 'still theirs', assignee_id: owner.user.id });
    expect(await inbox(client)).toHaveLength(1);
    await patch(theirs, `/v1/tasks/${id}`, { assignee_id: null });
    await patch(theirs, `/v1/tasks/${id}`, { assignee_id: owner.user.id });
    expect(await inbox(client)).toHaveLength(2);
  });

  test('is told once, however often its event is delivered', async () => {
    const id = await created(client, 'tasks', { title: 'once', assignee_id: colleague.user.id });
    expect(await inbox(theirs)).toHaveLength(1);
    await asOwner(world, `delete from event_deliveries where listener = 'notify-assigned' and entity_id = $1`, [id]);
    await asOwner(
      world,
      `update events set settled_at = null, batch_id = null, claimed_at = null where entity_id = $1 and topic = 'task.assigned'`,
      [id],
    );
    await eventually(async () => (await storedDeliveries(world, 'notify-assigned', id)).length === 1);
    expect(await inbox(theirs)).toHaveLength(1);
  });
});

describe('who may no longer see the record', () => {
  test('finds neither its name nor its link, in no answer, and finds both again with the right', async () => {
    const { person, client: third } = await member();
    const task = await created(client, 'tasks', { title: 'secret plan', assignee_id: person.user.id });
    const [told] = await inbox(third);
    await patch(client, `/v1/tasks/${task}`, { assignee_id: null });
    expect(await inbox(third)).toEqual([]);
    expectProblem(await third.get(`/v1/notifications/${told.id}`), 'not_found');
    expectProblem(await patch(third, `/v1/notifications/${told.id}`, { is_read: true }), 'not_found');
    expect((await third.post('/v1/notifications/read')).body).toEqual({ marked_count: 0, has_more: false });
    const { data, errors } = await third.graphql(
      `query ($id: ID!) { notifications { totalCount } notificationHistories(where: { recordId: { eq: $id } }) { totalCount }
        notificationAggregates { count } self { notifications { totalCount } } }`,
      { id: told.id },
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      notifications: { totalCount: 0 },
      notificationHistories: { totalCount: 0 },
      notificationAggregates: [{ count: 0 }],
      self: { notifications: { totalCount: 0 } },
    });
    expectGraphqlError(await third.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: told.id }), 'not_found');
    await patch(client, `/v1/tasks/${task}`, { assignee_id: person.user.id });
    expect((await inbox(third)).map(({ body }: { body: string }) => body)).toEqual([told.body, told.body]);
    await client.mutate({ method: 'DELETE', url: `/v1/tasks/${task}` });
    expect(await inbox(third)).toEqual([]);
  });
});

describe('a mention', () => {
  test('in a comment or in the details of a task is told to members who may see it, each time they are newly mentioned', async () => {
    const { person: third, client: thirdClient } = await member();
    const stranger = await buildPerson(world);
    const strangerClient = await signedIn(world, stranger);
    const task = await created(client, 'tasks', { title: 'talk', assignee_id: colleague.user.id });
    const text = `${mention(colleague, 'Ann')}, ask ${mention(third)} and ${mention(stranger)}, not @[me](user:nobody) ${mention(owner)}`;
    const note = await created(client, 'notes', { text, task_id: task });
    // Events of two transactions may be told in either order.
    const told = (await inbox(theirs)).filter(({ topic }: { topic: string }) => topic !== 'task.assigned');
    expect(told).toMatchObject([
      {
        topic: 'note.mentioned',
        title: `${owner.user.displayName} mentioned you in a comment`,
        // Names are those that people have now, and of a stranger what the author wrote.
        body: expect.stringMatching(
          new RegExp(`^TSK-\\w+: talk\n@${colleague.user.displayName}, ask @${third.user.displayName} and @Somebody,`),
        ),
        target_kind: 'note',
        target_id: note,
      },
    ]);
    // The third person may not see the task, so not the comment either; the owner acted.
    expect(await inbox(thirdClient)).toEqual([]);
    expect(await inbox(strangerClient)).toEqual([]);
    expect(await inbox(client)).toEqual([]);
    // Edited, and marked so; who was mentioned before is not told again.
    const { body: edited } = await patch(client, `/v1/notes/${note}`, { text: `${text}!` });
    expect(edited).toMatchObject({ is_edited: true });
    expect(await inbox(theirs)).toHaveLength(2);
    await patch(client, `/v1/tasks/${task}`, { details: `see ${mention(colleague)} and ${mention(colleague)}` });
    const all = await inbox(theirs);
    expect(all).toHaveLength(3);
    expect(all.at(-1)).toMatchObject({ topic: 'task.mentioned', target_kind: 'task', target_id: task });
  });

  test('of more than a hundred people is refused with the field', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `01J0000000000000000000${String(index).padStart(4, '0')}`);
    const text = ids.map((id) => `@[x](user:${id})`).join(' ');
    const answer = await client.post('/v1/notes', { text });
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toEqual([
      { path: '/text', message: 'must mention at most 100 people; it mentions 101' },
    ]);
  });
});

describe('notifications', () => {
  test('are marked as read, as unread, and all at once', async () => {
    for (const title of ['one', 'two', 'three'])
      await created(client, 'tasks', { title, assignee_id: colleague.user.id });
    const [first] = await inbox(theirs);
    const { body: read } = await patch(theirs, `/v1/notifications/${first.id}`, { is_read: true });
    expect(read).toMatchObject({ is_read: true, read_at: expect.stringMatching(/Z$/) });
    const unread = async () =>
      (await theirs.get('/v1/notifications?is_read=false&count=true&first=0')).body.total_count;
    expect(await unread()).toBe(2);
    const { data } = await theirs.graphql('mutation { markAllNotificationsRead { markedCount hasMore } }');
    expect(data).toEqual({ markAllNotificationsRead: { markedCount: 2, hasMore: false } });
    expect(await unread()).toBe(0);
    const answer = await theirs.graphql(
      'mutation ($id: ID!) { updateNotification(id: $id, input: { isRead: false }) { notification { isRead readAt } } }',
      { id: first.id },
    );
    expect(answer.data).toEqual({ updateNotification: { notification: { isRead: false, readAt: null } } });
    expect((await theirs.post('/v1/notifications/read')).body).toEqual({ marked_count: 1, has_more: false });
    for (const payload of [{ read_at: null }, { title: 'forged' }, { target_id: first.id }])
      expectProblem(await patch(theirs, `/v1/notifications/${first.id}`, payload), 'invalid_input');
    expect((await theirs.post('/v1/notifications', { title: 'forged' })).status).toBe(405);
  });
});

describe('preferences', () => {
  test('belong to one person, who alone sees and changes them', async () => {
    const id = await created(theirs, 'notification-preferences', {
      channel: 'email',
      topic_pattern: 'task.*',
      cadence: 'daily',
      quiet_hours_start: '22:00',
      quiet_hours_end: '07:00',
    });
    expect((await theirs.get(`/v1/notification-preferences/${id}`)).body).toMatchObject({
      user_id: colleague.user.id,
      topic_pattern: 'task.*',
    });
    expectProblem(await client.get(`/v1/notification-preferences/${id}`), 'not_found');
    expectProblem(await patch(client, `/v1/notification-preferences/${id}`, { cadence: 'mute' }), 'not_found');
    const again = await theirs.post('/v1/notification-preferences', { channel: 'email', topic_pattern: 'task.*' });
    expectProblem(again, 'already_exists');
    const createIn = (channel: string) =>
      theirs.graphql(
        `mutation { createNotificationPreference(input: { channel: ${channel} }) { notificationPreference { topicPattern cadence isUnsubscribed } } }`,
      );
    expect((await createIn('CHAT')).errors).toMatchObject([{ extensions: { code: 'chat_not_connected' } }]);
    const { data } = await createIn('IN_APP');
    expect(data.createNotificationPreference.notificationPreference).toEqual({
      topicPattern: '*',
      cadence: 'IMMEDIATE',
      isUnsubscribed: false,
    });
  });

  test.each([
    [{ quiet_hours_start: '22:00' }, '/quiet_hours_end', 'is required where quiet_hours_start has a value'],
    [{ quiet_hours_start: '24:00', quiet_hours_end: '07:00' }, '/quiet_hours_start', expect.stringMatching(/format/)],
    [{ topic_pattern: 'task' }, '/topic_pattern', expect.stringMatching(/format/)],
    [
      { topic_pattern: 'tasks.*' },
      '/topic_pattern',
      expect.stringMatching(/no topic.*did you mean "task\.\*"\?.*note\./),
    ],
    [{ topic_pattern: 'task.asigned' }, '/topic_pattern', expect.stringMatching(/did you mean "task\.assigned"/)],
    [
      { topic_pattern: 'planet.*' },
      '/topic_pattern',
      expect.stringMatching(/no topic of a notification; topics are export\.completed/),
    ],
    [{ cadence: 'hourly' }, '/cadence', expect.stringMatching(/one of/)],
    [{ channel: 'pigeon' }, '/channel', expect.stringMatching(/one of/)],
  ])('are refused with %j', async (wrong, path, message) => {
    const answer = await theirs.post('/v1/notification-preferences', { channel: 'in_app', ...wrong });
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toEqual([{ path, message }]);
  });

  test('have no quiet hours that end when they begin', async () => {
    const hours = { quiet_hours_start: '07:00', quiet_hours_end: '07:00' };
    const answer = await theirs.post('/v1/notification-preferences', { channel: 'in_app', ...hours });
    expectProblem(answer, 'rule_violated');
    expect(answer.body.errors).toEqual([
      {
        path: '/quiet_hours_end',
        message: 'The quiet hours end when they begin; to receive no notifications at all, set the cadence to mute.',
      },
    ]);
  });
});

describe('a discussion', () => {
  test('is deleted with its last comment, and not with another one', async () => {
    const task = await created(client, 'tasks', { title: 'discussed' });
    const discussion = await created(client, 'discussions', { task_id: task });
    const [one, two] = [
      await created(client, 'notes', { text: 'one', discussion_id: discussion }),
      await created(client, 'notes', { text: 'two', discussion_id: discussion }),
    ];
    const remove = (id: string) => client.mutate({ method: 'DELETE', url: `/v1/notes/${id}` });
    await remove(one);
    await settled();
    expect((await client.get(`/v1/discussions/${discussion}`)).status).toBe(200);
    await remove(two);
    await settled();
    expectProblem(await client.get(`/v1/discussions/${discussion}`), 'not_found');
  });
});
