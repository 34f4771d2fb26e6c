import type { StartOptions } from '../clients/temporal/temporal-client.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { subscriptions, type ListenerName } from '#workflows/events/subscriptions.ts';
import type { ActivityQueue } from '#workflows/kit/activity-queue.ts';
import type { WorkflowContract } from '#workflows/kit/contract.ts';

/** What a listener works with. */
export interface Delivery {
  readonly event: EventRow;
  /** Scoped to the event's organization. The delivery row commits with what is done here, or neither does. */
  readonly unit: UnitOfWork;
  /** Identifies this delivery to the outside world, the same at every attempt: `<event>/<listener>`. */
  readonly key: string;
  /**
   * Starts a workflow for whatever leaves the database. It is started before the commit and under an id made from `key`,
   * so it happens once, and never for a delivery that is not due.
   */
  readonly start: <Input>(contract: WorkflowContract<Input>, input: Input, options?: Partial<StartOptions>) => void;
  /** Where activities of the started workflow run, and how they are tried by default. */
  readonly activityQueue: (name: string) => ActivityQueue;
}

/** Reacts to events, at least once in effort and exactly once in effect. */
export interface Listener {
  /** kebab-case, unique; it is part of keys and ids and never changes. */
  readonly name: string;
  readonly topics: readonly string[];
  readonly deliver: (delivery: Delivery) => Promise<void> | void;
}

/** A listener of the product; its topics stand in the table of subscriptions. */
export function defineListener(name: ListenerName, deliver: Listener['deliver']): Listener {
  return { name, topics: subscriptions[name], deliver };
}
