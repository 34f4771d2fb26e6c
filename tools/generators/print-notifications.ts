import { mails, notificationKinds } from '#activities/mails/index.ts';
import { compareText } from '#entities/kit/base/compare-text.ts';

/** Topics of notifications and sorts of mails that people can end, for the kinds, which import nothing of activities. */
export function printNotificationTopics(): string {
  const topics = notificationKinds.map(
    ({ topic, unsubscribesFrom, sample }) => [topic, { unsubscribesFrom, variables: Object.keys(sample) }] as const,
  );
  const sorts = mails.flatMap(({ name, unsubscribesFrom }) =>
    unsubscribesFrom === undefined ? [] : [[name, { unsubscribesFrom }] as const],
  );
  const sorted = [...topics, ...sorts].toSorted(([one], [other]) => compareText(one, other));
  return `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`;
}

export function printNotifications(): string {
  const rows = notificationKinds
    .toSorted((one, other) => compareText(one.topic, other.topic))
    .map(({ topic, description, sample }) => {
      const variables = Object.keys(sample).map((name) => `\`${name}\``);
      return `| \`${topic}\` | ${description} | ${variables.join(', ')} |`;
    });
  return [
    '# Notifications',
    '',
    'Topics of notifications with their recipients, and the variables of texts about them ([how they work](../notifications.md)). Printed by',
    '`npm run derive` from `activities/mails/`.',
    '',
    '| Topic | Recipients and event | Variables |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
