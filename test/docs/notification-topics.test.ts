import { expect, test } from 'vitest';
import { notificationKinds } from '#activities/mails/index.ts';
import { notificationTopics, patternsOf, topicInWords } from '#entities/notifications/notification-topics.ts';

test('the topics that preferences accept are those of the notifications', () => {
  expect(notificationTopics.toSorted()).toEqual(notificationKinds.map(({ topic }) => topic).toSorted());
});

test('every sort of mails that can be ended has words for the page that ends it', () => {
  expect(['task.assigned', 'invite', 'invite-accepted'].map(topicInWords)).toEqual([
    'tasks that are assigned to you',
    'invitations',
    'invitations that were accepted',
  ]);
});

test.each([
  ['*', 'task.assigned', true],
  ['task.*', 'task.assigned', true],
  ['task.assigned', 'task.assigned', true],
  ['task.*', 'tasks.assigned', false],
  ['task.a', 'task.assigned', false],
  ['assigned.*', 'task.assigned', false],
])('%s and %s: %s', (pattern, topic, fits) => {
  expect(patternsOf(topic).includes(pattern)).toBe(fits);
});
