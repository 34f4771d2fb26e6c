import type { TObject } from 'typebox';
import { listeners } from '#activities/listeners/index.ts';
import { registry } from '#entities/index.ts';
import { eventCatalogue, type EventType } from '#entities/kit/model/event-catalogue.ts';
import { changePayload, declaredEvents, type DeclaredEvent } from '#entities/kit/model/events.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { lostParts } from './lost-parts.ts';

/** The reference page of all events: when each is recorded, its payload and its listeners. */
export function printEvents(): string {
  const events = registry.modules
    .flatMap((module) => declaredEvents(module))
    .toSorted((a, b) => a.topic.localeCompare(b.topic));
  const custom = events.filter(({ payload }) => payload !== changePayload);
  const types = new Map(eventCatalogue(registry).map((type) => [type.topic, type]));
  return [
    '# Events',
    '',
    'An event is recorded in the transaction of its change and delivered to its listeners after the commit. An event without',
    'listeners starts no workflow. Endpoints of organizations receive the public ones as messages, whose JSON Schemas and examples are in',
    '[events.schema.json](events.schema.json) and in `GET /v1/event-types`. Printed by `npm run derive` from the kinds (`entities/`) and',
    'the listeners (`activities/listeners/index.ts`).',
    '',
    '| Topic | When | Version | Public | Payload | Listeners |',
    '| --- | --- | --- | --- | --- | --- |',
    ...events.map(
      (event) =>
        `| \`${event.topic}\` | ${event.description} | ${event.version ?? 1} | ${types.get(event.topic)?.isPublic ? 'yes' : 'no'} | ${payloadLink(event)} | ${listenersOf(event.topic)} |`,
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

/** Entry of `events.schema.json` for a type of event. */
type PrintedType = Pick<EventType, 'version' | 'isPublic' | 'schema' | 'example'>;

/**
 * The JSON Schemas of all types of events. A schema that has lost or retyped a property keeps its printed form, and differs from it, until
 * the version of the event is raised: receivers rely on the earlier schema.
 * @param present the file as it is
 * @throws Error that names what was lost
 */
export function printEventSchemas(present: string, kinds: Registry = registry): string {
  const before = present === '' ? {} : (JSON.parse(present) as { types: Readonly<Record<string, PrintedType>> }).types;
  const types = eventCatalogue(kinds);
  const lost = Object.entries(before).flatMap(([topic, held]) => {
    const now = types.find((type) => type.topic === topic);
    if (!held.isPublic || (now && now.isPublic && now.version > held.version)) return [];
    if (!now?.isPublic) return [`${topic} is no longer public`];
    return lostParts(held.schema, now.schema).map((part) => `${topic} ${part}`);
  });
  if (lost.length > 0)
    throw new Error(
      `types of events have lost what receivers rely on; raise the version of the event where that is meant:\n${lost.join('\n')}`,
    );
  const printed = types.map(({ topic, version, isPublic, schema, example }): [string, PrintedType] => [
    topic,
    { version, isPublic, schema, example },
  ]);
  return `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', types: Object.fromEntries(printed) }, undefined, 2)}\n`;
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
