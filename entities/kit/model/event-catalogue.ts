import { didYouMean } from '../base/did-you-mean.ts';
import { onceForEach } from '../base/once-for-each.ts';
import { found } from '../base/schema-problem.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from './define.ts';
import { declaredEvents, type DeclaredEvent } from './events.ts';
import { isExposed } from './exposure.ts';
import type { Registry } from './registry.ts';
import { offeredScopes } from './scopes.ts';

/** A type of event as subscribers know it. */
export interface EventType {
  readonly topic: string;
  /** Raised when the schema loses a property or gives one another type. */
  readonly version: number;
  readonly description: string;
  /** Whether endpoints of organizations can receive it (`publicKinds`). */
  readonly isPublic: boolean;
  /** JSON Schema of the message. */
  readonly schema: object;
  readonly example: object;
}

/**
 * Kinds, by topic, whose events leave the server: records of an organization that API tokens can read, and kinds that say so
 * (`announced`), such as sessions and tokens.
 */
export const publicKinds = onceForEach((registry: Registry): ReadonlySet<string> => {
  const readable = new Set(offeredScopes(registry, 'api'));
  return new Set(
    registry.modules
      .filter(
        (module) =>
          module.announced !== undefined ||
          (module.tenancy === 'organization' &&
            module.needsSession === undefined &&
            module.closedToDelegates === undefined &&
            isExposed(module) &&
            readable.has(`${module.topic}:read`)),
      )
      .map(({ topic }) => topic),
  );
});

/** Every type of event, by topic. */
export const eventCatalogue = onceForEach((registry: Registry): readonly EventType[] => {
  const isPublic = publicKinds(registry);
  return registry.modules
    .flatMap((module) => declaredEvents(module).map((event) => typeOf(module, event, isPublic.has(module.topic))))
    .toSorted((a, b) => (a.topic < b.topic ? -1 : 1));
});

/** Patterns of endpoints that name topics that endpoints can receive: `task.created`, `task.*` and `*`. */
const knownPatterns = onceForEach((registry: Registry): ReadonlySet<string> => {
  const topics = eventCatalogue(registry).flatMap(({ topic, isPublic }) => (isPublic ? [topic] : []));
  return new Set([...topics.flatMap((topic) => [topic, anyOf(topic)]), '*']);
});

/** Problem of a pattern of an endpoint, as the end of a sentence; undefined for one that names topics that endpoints can receive. */
export function patternProblem(registry: Registry, pattern: string): string | undefined {
  const known = knownPatterns(registry);
  if (known.has(pattern)) return undefined;
  const isOfKind = (one: string) => one.endsWith('.*');
  const near = known.has(`${pattern}.*`)
    ? `${pattern}.*`
    : didYouMean(
        pattern,
        [...known].filter((one) => isOfKind(one) === isOfKind(pattern)),
      );
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  return `is not a type of event that endpoints receive${found(pattern)}${hint}; GET /v1/event-types lists them`;
}

/** The pattern of all events of a kind. */
function anyOf(topic: string): string {
  return `${topic.slice(0, topic.indexOf('.'))}.*`;
}

const exampleTime = '2026-01-31T09:30:00.000Z';

const instant = { type: 'string', format: 'date-time' } as const;
const text = { type: 'string' } as const;

const recordNote =
  'The record with the names of REST, if the endpoint asks for it: as the endpoint can read it at this attempt, null if it cannot.';

function typeOf(module: EntityModule, event: DeclaredEvent, isPublic: boolean): EventType {
  const { topic, description, payload, version = 1 } = event;
  const isChange = 'changed' in payload.properties;
  const details = detailsOf(event);
  const data = {
    kind: { const: module.topic, description: 'Kind of the record.' },
    id: { ...text, description: 'Id of the record.' },
    organization_id: { ...text, description: 'Id of the organization.' },
    version: { type: 'integer', description: 'Version of the record after the change.' },
    request_id: { ...text, description: 'Id of the request that caused the event.' },
    actor: {
      ...text,
      description: 'Caller who caused it: user:<id>, api_token:<id>, support:<id>, anonymous, or system:<reason>.',
    },
    ...(isChange
      ? { changed: { type: 'array', items: text, description: 'Names of the fields that were set or changed.' } }
      : {}),
    ...(details === undefined ? {} : { details }),
  };
  return {
    topic,
    version,
    description,
    isPublic,
    schema: {
      type: 'object',
      description,
      required: ['type', 'timestamp', 'data'],
      properties: {
        type: { const: topic, description: 'Type of the event.' },
        timestamp: { ...instant, description: 'When it happened.' },
        data: {
          type: 'object',
          required: Object.keys(data),
          properties: { ...data, record: { type: ['object', 'null'], description: recordNote } },
        },
      },
    },
    example: {
      type: topic,
      timestamp: exampleTime,
      data: {
        kind: module.topic,
        id: '01KG9ZV4X3M8Q2T7R5W1Y6B0CD',
        organization_id: '01KG9ZT0H8N4P6S2V9X7Z3A5BC',
        version: isChange && topic.endsWith('.created') ? 1 : 3,
        request_id: '01KG9ZW8J2K5M7P9R3T6V0X4YZ',
        actor: 'user:01KG9ZX2L6N8Q4S0U7W3Y5A9BC',
        ...(isChange ? { changed: exampleNames(module) } : {}),
        ...(details === undefined ? {} : { details: exampleOf(details) }),
      },
    },
  };
}

/** The names of the event's payload in the form of REST. */
function detailsOf({ payload }: DeclaredEvent): object | undefined {
  const names = Object.keys(payload.properties).filter((name) => name !== 'changed');
  if (names.length === 0) return undefined;
  return {
    type: 'object',
    required: (payload.required ?? []).filter((name) => names.includes(name)).map(snakeCase),
    properties: Object.fromEntries(
      // A plain copy: schemas of the library carry marks of their own.
      names.map((name) => [snakeCase(name), JSON.parse(JSON.stringify(payload.properties[name])) as object]),
    ),
  };
}

function exampleNames({ expose }: EntityModule): string[] {
  return Object.keys(expose).slice(0, 1).map(snakeCase);
}

function exampleOf(details: object): object {
  const { properties } = details as { readonly properties: Readonly<Record<string, SchemaPart>> };
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, exampleValue(schema)]));
}

interface SchemaPart {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaPart[];
  readonly items?: SchemaPart;
}

function exampleValue({ type, format, const: only, enum: words, anyOf: choices, items }: SchemaPart): unknown {
  if (only !== undefined) return only;
  if (format === 'date-time') return exampleTime;
  if (words) return words[0];
  if (choices?.[0]) return exampleValue(choices[0]);
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'boolean') return true;
  if (type === 'array') return items ? [exampleValue(items)] : [];
  if (type === 'object') return {};
  return type === 'string' ? '01KG9ZX2L6N8Q4S0U7W3Y5A9BC' : null;
}
