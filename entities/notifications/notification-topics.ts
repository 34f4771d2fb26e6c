import { didYouMean } from '../kit/base/did-you-mean.ts';

/** Topics of events of which people are told; each has a notification (activities/listeners/notifications). */
export const notificationTopics = [
  'task.assigned',
  'task.mentioned',
  'note.mentioned',
  'export.completed',
  'export.failed',
  'organization.ready',
  'webhook_endpoint.failing',
  'webhook_endpoint.disabled',
  'group.join_requested',
  'group.join_decided',
] as const;

/** Variables of the texts about each topic, which its notification has values for. */
export const notificationVariables = {
  'task.assigned': ['displayId', 'title'],
  'task.mentioned': ['displayId', 'title'],
  'note.mentioned': ['text'],
  'export.completed': ['kind', 'format', 'rows'],
  'export.failed': ['kind', 'format', 'code'],
  'organization.ready': ['name', 'tasks'],
  'webhook_endpoint.failing': ['name'],
  'webhook_endpoint.disabled': ['name', 'reason'],
  'group.join_requested': ['group'],
  'group.join_decided': ['group', 'outcome'],
} as const satisfies Readonly<Record<(typeof notificationTopics)[number], readonly string[]>>;

/** The patterns that fit a topic: itself, all of its kind, and all. */
export function patternsOf(topic: string): string[] {
  return [topic, `${topic.slice(0, topic.indexOf('.'))}.*`, '*'];
}

/** All patterns that fit a topic. */
export const topicPatterns = [...new Set(notificationTopics.flatMap(patternsOf))];

/** Why no notification is ever about a pattern, as the end of a sentence. */
export function noTopic(pattern: string): string {
  const kinds = topicPatterns.filter((one) => one.endsWith('.*'));
  const near = didYouMean(pattern, pattern.endsWith('.*') ? kinds : notificationTopics);
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  return `fits no topic of a notification${hint}; topics are ${notificationTopics.join(', ')}`;
}
