import { didYouMean } from '../kit/base/did-you-mean.ts';

/** Topics of events that have notifications; each has a notification (activities/listeners/notifications). */
export const notificationTopics = [
  'task.assigned',
  'task.mentioned',
  'task.due_tomorrow',
  'task.due_today',
  'task.overdue',
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
  'task.assigned': ['actor', 'displayId', 'title', 'due'],
  'task.mentioned': ['actor', 'displayId', 'title', 'due'],
  'task.due_tomorrow': ['displayId', 'title', 'due'],
  'task.due_today': ['displayId', 'title', 'due'],
  'task.overdue': ['displayId', 'title', 'due'],
  'note.mentioned': ['actor', 'displayId', 'title', 'text'],
  'export.completed': ['kind', 'format', 'rows', 'until'],
  'export.failed': ['kind', 'format', 'code'],
  'organization.ready': ['name', 'tasks'],
  'webhook_endpoint.failing': ['name', 'until'],
  'webhook_endpoint.disabled': ['name', 'reason'],
  'group.join_requested': ['actor', 'group'],
  'group.join_decided': ['actor', 'group', 'outcome'],
} as const satisfies Readonly<Record<(typeof notificationTopics)[number], readonly string[]>>;

/** Subjects of e-mails, in sentences: “no more e-mails about …”. Besides topics, sorts of e-mails that can be ended. */
const topicWords: Readonly<Record<string, string>> = {
  'task.assigned': 'tasks that are assigned to you',
  'task.mentioned': 'mentions of you in tasks',
  'task.due_tomorrow': 'tasks that are due tomorrow',
  'task.due_today': 'tasks that are due today',
  'task.overdue': 'tasks that are overdue',
  'note.mentioned': 'mentions of you in comments',
  'export.completed': 'exports that are ready',
  'export.failed': 'exports that have failed',
  'organization.ready': 'organizations that are ready',
  'webhook_endpoint.failing': 'endpoints that fail',
  'webhook_endpoint.disabled': 'endpoints that were disabled',
  'group.join_requested': 'requests to join groups',
  'group.join_decided': 'answers to your requests to join groups',
  invite: 'invitations',
  'invite-accepted': 'invitations that were accepted',
};

/** Subject of e-mails about a topic, for a sentence. */
export function topicInWords(topic: string): string {
  return topicWords[topic] ?? topic;
}

/** The patterns that fit a topic: itself, all of its kind, and all. */
export function patternsOf(topic: string): string[] {
  return [topic, `${topic.slice(0, topic.indexOf('.'))}.*`, '*'];
}

/** Of these, the one that applies to a topic: the one with the longest pattern that fits; undefined when none does. */
export function appliedTo<Held extends { readonly topicPattern: string }>(
  topic: string,
  held: readonly Held[],
): Held | undefined {
  const patterns = patternsOf(topic);
  return held
    .filter(({ topicPattern }) => patterns.includes(topicPattern))
    .toSorted((a, b) => b.topicPattern.length - a.topicPattern.length)[0];
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
