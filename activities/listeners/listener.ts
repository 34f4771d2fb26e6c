import type { StartOptions } from '../clients/temporal/temporal-client.ts';
import { topicOf, type EventSource, type PayloadOf, type VerbOf } from '#entities/kit/model/events.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';

/** Services of a listener. */
export interface Delivery<Payload = EventRow['payload']> {
  readonly event: Omit<EventRow, 'payload'> & { readonly payload: Payload };
  /** Scoped to the event's organization. The delivery row commits with what is done here, or neither does. */
  readonly unit: UnitOfWork;
  /** Identifies this delivery to the outside world, the same at every attempt: `<event>/<listener>`. */
  readonly key: string;
  /**
   * Starts a workflow for whatever leaves the database. It is started before the commit and under an id made from `key`,
   * so it happens once, and never for a delivery that is not due.
   */
  readonly start: <Input>(
    contract: WorkflowContract<Input>,
    input: StartInput<Input>,
    options?: Partial<StartOptions>,
  ) => void;
}

/** Reacts to events. It may be called several times for one event; its changes are committed once. */
export interface Listener {
  /** kebab-case, unique; it is part of keys and ids and never changes. */
  readonly name: string;
  readonly topics: readonly string[];
  readonly deliver: (delivery: Delivery) => Promise<void> | void;
  /** Whether it is given events while these settings hold; always when left out. Events skipped meanwhile are not replayed. */
  readonly isWanted?: (settings: ListenerSettings) => boolean;
}

/** Settings on which it depends whether there is something to do. */
export interface ListenerSettings {
  /** Whether the operator has a chat (`integrations.chatruntime`). */
  readonly hasChat: boolean;
}

/** The events of one topic, with the type of their payloads. */
export interface Subscription<Payload = unknown> {
  readonly topic: string;
  /** Carries the payload's type only. */
  readonly '~payload'?: Payload;
}

type PayloadIn<S extends Subscription> = S extends Subscription<infer Payload> ? Payload : never;

/** Subscribes to an event that a kind declares; a verb that it does not declare is a type error. */
export function on<S extends EventSource, V extends VerbOf<S>>(kind: S, verb: V): Subscription<PayloadOf<S, V>> {
  return { topic: topicOf(kind, verb) };
}

/**
 * A listener of the product.
 * @param name kebab-case, unique; it is part of keys and ids and never changes
 */
export function defineListener<const S extends Subscription>(
  name: string,
  subscriptions: readonly S[],
  deliver: (delivery: Delivery<PayloadIn<S>>) => Promise<void> | void,
): Listener {
  return {
    name,
    topics: subscriptions.map(({ topic }) => topic),
    // Its topics are the only ones it is given, and their payloads are written under the same declaration.
    deliver: deliver as Listener['deliver'],
  };
}
