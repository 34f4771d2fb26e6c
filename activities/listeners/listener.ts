import type { StartOptions } from '../clients/temporal/start-options.ts';
import type { Expressions } from '#entities/automation/document/expressions.ts';
import type { PayloadIn, Subscription } from '#entities/kit/model/events.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';
import type { Occasion } from '../mails/audience.ts';

interface WakeOptions {
  /** Name of an update in place of the signal: its id is that of the event, so that the workflow gets it once. */
  readonly update?: string;
  /** Name of another signal than that of the contract. */
  readonly signal?: string;
  readonly search?: SearchValues;
}

/** Services of a listener: an event, and a unit of work that commits together with the row of its delivery, or not at all. */
export interface Delivery<Payload = EventRow['payload']> extends Occasion<Payload> {
  /**
   * Starts a workflow for whatever leaves the database. It is started before the commit and under an id made from `key`,
   * so it happens once, and never for a delivery that is not due.
   */
  readonly start: <Input>(
    contract: WorkflowContract<Input>,
    input: StartInput<Input>,
    options?: Partial<StartOptions>,
  ) => void;
  /**
   * Wakes a workflow that works on what rows say: it gets the signal of its contract (`wakeSignal`) or another one, and is started if it does not run. It is
   * woken after the commit, so it finds what was written, and at least once: a row says so until it is.
   */
  readonly wake: <Input extends object>(
    contract: WorkflowContract<Input>,
    input: StartInput<Input>,
    options?: WakeOptions,
  ) => void;
  /** Expressions of workflow definitions. */
  readonly expressions: Expressions;
}

/** Reacts to events. It may be called several times for one event; its changes are committed once. */
export interface Listener {
  /** kebab-case, unique; it is part of keys and ids and never changes. */
  readonly name: string;
  readonly topics: readonly string[];
  readonly deliver: (delivery: Delivery) => Promise<void> | void;
  /** Whether it is given events while these settings hold; always when left out. Events skipped meanwhile are not replayed. */
  readonly isWanted?: (settings: ListenerSettings) => boolean;
  /** It is given those events only that something in their organization asks for: the trigger of a definition, or an open workflow instance about the deleted record. */
  readonly onDemand?: true;
}

/** Settings on which it depends whether there is something to do. */
export interface ListenerSettings {
  /** Whether the operator has a chat (`integrations.chatruntime`). */
  readonly hasChat: boolean;
  /** Whether organizations pay (`subscription.enabled`). */
  readonly hasBilling: boolean;
  /** Whether definitions of workflows start anything (`workflows.enabled`). */
  readonly hasWorkflows: boolean;
}

/** A listener of the product. @param name kebab-case, unique; it is part of keys and ids and never changes */
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
