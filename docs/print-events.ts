import type { TObject } from 'typebox';
import { listeners } from '#activities/listeners/index.ts';
import { registry } from '#entities/index.ts';
import { changePayload, declaredEvents, type DeclaredEvent } from '#entities/kit/model/events.ts';

/** The reference page of all events: when each is recorded, its payload and its listeners. */
export function printEvents(): string {
  const events = registry.modules
    .flatMap((module) => declaredEvents(module))
    .toSorted((a, b) => a.topic.localeCompare(b.topic));
  const custom = events.filter(({ payload }) => payload !== changePayload);
  return [
    '# Events',
    '',
    'An event is recorded in the transaction of its change and delivered to its listeners after the commit. An event without',
    'listeners starts no workflow. Printed by `npm run derive` from the kinds (`entities/`) and `activities/listeners/index.ts`.',
    '',
    '| Topic | When | Payload | Listeners |',
    '| --- | --- | --- | --- |',
    ...events.map(
      (event) => `| \`${event.topic}\` | ${event.description} | ${payloadLink(event)} | ${listenersOf(event.topic)} |`,
    ),
    '',
    '## Payload of a change',
    '',
    'JSON Schema of the payload of every `created`, `updated` and `deleted` event.',
    '',
    ...block(changePayload),
    ...custom.flatMap(({ topic, payload }) => [
      `## Payload of \`${topic}\``,
      '',
      ...(Object.keys(payload.properties).length === 0 ? ['The payload is an empty object.', ''] : block(payload)),
    ]),
  ].join('\n');
}

function payloadLink({ topic, payload }: DeclaredEvent): string {
  if (payload === changePayload) return '[change](#payload-of-a-change)';
  return Object.keys(payload.properties).length === 0 ? 'empty' : `[schema](#payload-of-${topic.replace('.', '')})`;
}

function block(schema: TObject): string[] {
  return ['```json', JSON.stringify(schema, undefined, 2), '```', ''];
}

function listenersOf(topic: string): string {
  const names = listeners.filter(({ topics }) => topics.includes(topic)).map(({ name }) => `\`${name}\``);
  return names.join(', ') || 'none';
}
