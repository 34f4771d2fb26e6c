import { registry } from '#entities/index.ts';
import type { EntityModule, EventVerb } from '#entities/kit/model/define.ts';
import { subscriptions } from '#workflows/events/subscriptions.ts';

/** The reference page of all events: who records them, who listens. */
export function printEvents(): string {
  const topics = registry.modules.flatMap((module) => [
    ...module.events.map((verb) => [`${module.topic}.${verb}`, changeOf(module, verb)] as const),
    ...Object.entries(module.customEvents ?? {}).map(
      ([verb, meaning]) => [`${module.topic}.${verb}`, meaning] as const,
    ),
  ]);
  const rows = topics
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([topic, meaning]) => `| \`${topic}\` | ${meaning} | ${listenersOf(topic)} |`);
  return [
    '# Events',
    '',
    'Recorded in the transaction of the change and delivered after its commit. An event nobody listens to starts nothing.',
    'Printed by `npm run derive`.',
    '',
    '| Topic | When | Listeners |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function changeOf({ typeName }: EntityModule, verb: EventVerb): string {
  const changed = verb === 'updated' ? '; `changed` names the fields' : '';
  return `A record of type ${typeName} was ${verb}${changed}.`;
}

function listenersOf(topic: string): string {
  const names = Object.entries(subscriptions).filter(([, topics]) => (topics as readonly string[]).includes(topic));
  return names.map(([name]) => `\`${name}\``).join(', ') || 'none';
}
