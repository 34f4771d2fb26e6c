import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { notificationKinds } from '#activities/listeners/notifications/notification-kinds.ts';
import {
  notificationTopics,
  notificationVariables,
  patternsOf,
  topicInWords,
} from '#entities/notifications/notification-topics.ts';

test('the topics that preferences accept, and those on the page, are those of the notifications', () => {
  const told = notificationKinds.map(({ topic }) => topic).toSorted();
  expect([...notificationTopics].toSorted()).toEqual(told);
  const page = readFileSync('docs/notifications.md', 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_.]+)` +\|/gm)].map(([, topic]) => String(topic));
  expect(rows.toSorted()).toEqual(told);
});

test('the variables of templates are those of the notifications', () => {
  const known = Object.fromEntries(
    notificationKinds.map(({ topic, sample }) => [topic, Object.keys(sample).toSorted()]),
  );
  const offered = Object.entries(notificationVariables).map(([topic, names]) => [topic, names.toSorted()]);
  expect(Object.fromEntries(offered)).toEqual(known);
});

test('every topic, and every sort of e-mail that can be ended, has words for the page that ends it', () => {
  for (const topic of [...notificationTopics, 'invite', 'invite-accepted']) expect(topicInWords(topic)).not.toBe(topic);
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
