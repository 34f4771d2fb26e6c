import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { assign, ownerAndMember } from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

test('whoever acts as a member changes nothing that is the member’s own: preferences, views, and what they have read', async () => {
  const { owner, member } = await ownerAndMember(world);
  await assign(owner.client, member.person, 'assigned');
  await eventually(() => isSettled(world));
  const own = {
    'notification-preferences': (
      await member.client.post('/v1/notification-preferences', { channel: 'email', topic_pattern: 'task.*' })
    ).body.id as string,
    'saved-views': (await member.client.post('/v1/saved-views', { name: 'mine', record_kind: 'task' })).body
      .id as string,
    notifications: (await member.client.get('/v1/notifications')).body.data[0].id as string,
  };
  const begun = await owner.client.post('/v1/impersonation', {
    user_id: member.person.user.id,
    reason: 'to see what the member sees',
  });
  const by = world.client();
  by.bearer = begun.body.access_token;

  const wanted = [
    ['POST', 'notification-preferences', { channel: 'in_app', topic_pattern: '*', cadence: 'mute' }],
    ['PATCH', `notification-preferences/${own['notification-preferences']}`, { cadence: 'mute' }],
    ['DELETE', `notification-preferences/${own['notification-preferences']}`, undefined],
    ['POST', 'saved-views', { name: 'theirs', record_kind: 'task' }],
    ['PATCH', `saved-views/${own['saved-views']}`, { name: 'renamed' }],
    ['DELETE', `saved-views/${own['saved-views']}`, undefined],
    ['PATCH', `notifications/${own.notifications}`, { is_read: true }],
    ['POST', 'notifications/read', undefined],
  ] as const;
  for (const [method, path, payload] of wanted) {
    const answer = await by.mutate({ method, url: `/v1/${path}`, ...(payload ? { payload } : {}) });
    expectProblem(answer, 'permission_denied', `${method} ${path}`);
    expect(answer.body.detail, path).toContain('acts as another user');
  }
  for (const mutation of [
    'createNotificationPreference(input: { channel: IN_APP, topicPattern: "*" }) { notificationPreference { id } }',
    `updateSavedView(id: "${own['saved-views']}", input: { name: "renamed" }) { savedView { id } }`,
    'markAllNotificationsRead { markedCount }',
  ])
    expect((await by.graphql(`mutation { ${mutation} }`)).errors?.[0]?.extensions.code, mutation).toBe(
      'permission_denied',
    );

  // They see all of it, as the member does, and work on what is the organization's.
  for (const [path, id] of Object.entries(own)) expect((await by.get(`/v1/${path}/${id}`)).status, path).toBe(200);
  expect((await by.post('/v1/tasks', { title: 'as the member' })).status).toBe(201);
  expect((await member.client.get(`/v1/notifications/${own.notifications}`)).body.is_read).toBe(false);
  expect((await member.client.get('/v1/saved-views')).body.data).toMatchObject([{ name: 'mine' }]);
});
