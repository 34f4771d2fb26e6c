import { Type, type Static, type TObject, type TProperties } from 'typebox';
import type { Announcement } from './announcement.ts';
import type { EventDraft } from './event-draft.ts';

export type EventVerb = 'created' | 'updated' | 'deleted';

/** An event that a handler records about a record, besides those of changes. */
interface CustomEvent {
  /** When it is recorded. */
  readonly description: string;
  /** JSON Schema of its payload: ids and small values, never secrets. */
  readonly payload: TObject;
  /** Raised when the schema loses a property or gives one another type; 1 when left out. */
  readonly version?: number;
}

export type CustomEvents = Readonly<Record<string, CustomEvent>>;

/** The part of a kind that says which events are recorded about its records. */
export interface EventSource<E extends EventVerb = EventVerb, C extends CustomEvents = CustomEvents> {
  /** Prefix of its topics. */
  readonly topic: string;
  readonly typeName: string;
  readonly events: readonly E[];
  /** By verb, a past participle. */
  readonly customEvents?: C;
  readonly announced?: Announcement<string>;
}

export type CustomVerbOf<S> = S extends EventSource<EventVerb, infer C> ? Extract<keyof C, string> : never;

/** Verbs of all events of a kind; the topic of an event is `<topic>.<verb>`. */
export type VerbOf<S> = S extends EventSource<infer E, infer C> ? E | Extract<keyof C, string> : never;

export type PayloadOf<S, V extends string> =
  S extends EventSource<EventVerb, infer C> ? (V extends keyof C ? Static<C[V]['payload']> : ChangePayload) : never;

/** The schema of a payload with exactly these properties. */
export function payload<P extends TProperties>(properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false });
}

/** Payload of `created`, `updated` and `deleted`, of every kind. */
export const changePayload = payload({
  changed: Type.Array(Type.String(), { description: 'Names of the fields that were set or changed.' }),
});

/** The same of kinds whose records belong to a person, and whose events leave the server. */
const ownedChangePayload = payload({
  ...changePayload.properties,
  userId: Type.String({ description: 'Id of the person to whom the record belongs.' }),
});

export type ChangePayload = Static<typeof changePayload>;

export interface DeclaredEvent extends CustomEvent {
  readonly topic: string;
}

export function declaredEvents({
  topic,
  typeName,
  events,
  customEvents = {},
  announced,
}: EventSource): DeclaredEvent[] {
  return [
    ...events.map((verb) => ({
      topic: `${topic}.${verb}`,
      description: `A record of type ${typeName} was ${verb}.`,
      payload: announced?.concerns ? ownedChangePayload : changePayload,
    })),
    ...Object.entries(customEvents).map(([verb, event]) => ({ topic: `${topic}.${verb}`, ...event })),
  ];
}

/**
 * The topic of an event of a kind.
 * @throws TypeError when the kind does not declare it, which the type of `verb` prevents wherever the kind is known
 */
export function topicOf<S extends EventSource>(kind: S, verb: VerbOf<S>): string {
  const topic = `${kind.topic}.${verb}`;
  const topics = declaredEvents(kind).map((event) => event.topic);
  if (!topics.includes(topic)) throw new TypeError(`there is no event "${topic}"; known are ${topics.join(', ')}`);
  return topic;
}

/** The events of one topic, with the type of their payloads. */
export interface Subscription<Payload = unknown> {
  readonly topic: string;
  /** Carries the payload's type only. */
  readonly '~payload'?: Payload;
}

export type PayloadIn<S extends Subscription> = S extends Subscription<infer Payload> ? Payload : never;

/** Subscribes to an event that a kind declares; a verb that it does not declare is a type error. */
export function on<S extends EventSource, V extends VerbOf<S>>(kind: S, verb: V): Subscription<PayloadOf<S, V>> {
  return { topic: topicOf(kind, verb) };
}

/**
 * Which organizations besides that of the record an event concerns: those of the record, and those that it has left with the change.
 * @param before the record before the change; null for a new one
 */
export function concernedBy(
  { announced }: EventSource,
  row: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>> | null,
): Pick<EventDraft, 'concerns' | 'concernsMember'> {
  const { concerns, allIfEmpty } = announced ?? {};
  if (!concerns) return {};
  const idsIn = (held: Readonly<Record<string, unknown>>) =>
    concerns.flatMap((name) => held[name] ?? []).filter((id) => typeof id === 'string');
  const rows = before === null ? [row] : [row, before];
  const ids = rows.flatMap(idsIn);
  const ofAll =
    allIfEmpty !== undefined && typeof row['userId'] === 'string' && rows.some((held) => idsIn(held).length === 0);
  return {
    ...(ids.length > 0 ? { concerns: [...new Set(ids)] } : {}),
    ...(ofAll ? { concernsMember: row['userId'] as string } : {}),
  };
}
