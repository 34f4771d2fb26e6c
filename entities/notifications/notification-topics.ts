import { readFileSync } from 'node:fs';
import { didYouMean } from '../kit/base/did-you-mean.ts';

/** A topic of notifications, or a sort of e-mails that people can end. */
interface PrintedTopic {
  readonly unsubscribesFrom: string;
  /** Of notifications: variables of the texts about it. */
  readonly variables?: readonly string[];
}

/** Printed by `npm run derive` from the mails and notifications (activities/mails). */
const printed = JSON.parse(readFileSync(new URL('notification-topics.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, PrintedTopic>
>;

/** Variables of the texts about each topic, which its notification has values for. */
export const notificationVariables: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(printed).flatMap(([topic, { variables }]) => (variables ? [[topic, variables]] : [])),
);

/** Topics of events that have notifications. */
export const notificationTopics: readonly string[] = Object.keys(notificationVariables);

/** Subject of e-mails about a topic or of a sort, for a sentence: “no more e-mails about …”. */
export function topicInWords(topic: string): string {
  return printed[topic]?.unsubscribesFrom ?? topic;
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

export const topicPatterns = [...new Set(notificationTopics.flatMap(patternsOf))];

/** Why no notification is ever about a pattern, as the end of a sentence. */
export function noTopic(pattern: string): string {
  const kinds = topicPatterns.filter((one) => one.endsWith('.*'));
  const near = didYouMean(pattern, pattern.endsWith('.*') ? kinds : notificationTopics);
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  return `fits no topic of a notification${hint}; topics are ${notificationTopics.join(', ')}`;
}
