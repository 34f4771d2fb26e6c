import { isAppError, isRefusal } from '#entities/kit/base/errors.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { endReason } from '../../subscriptions/subscription-hub.ts';
import type { PlacedChange, RecordSubscription } from '../../subscriptions/record-subscription.ts';
import type { StreamContext, StreamSource } from './stream-field.ts';
import { visibleChanges, type SelectionsByName, type VisibleChange } from './visible-changes.ts';

/** Pause before another attempt to read what could not be read, in milliseconds. */
const retryMs = 500;

interface ChangeStreamOptions {
  readonly subscription: RecordSubscription;
  readonly context: StreamContext;
  readonly registry: Registry;
  readonly selections: SelectionsByName;
  /** Leaves out changes before their records are read. */
  readonly isWanted?: (placed: PlacedChange) => boolean;
  /** The message of a change; left out for none. */
  readonly message: (change: VisibleChange, cursor: string) => unknown;
  /** The message that has only the position from which to continue. */
  readonly positionMessage: (cursor: string) => unknown;
}

/** Turns changes into messages: their records are read as the subscriber is at that moment, several in one statement. */
export class ChangeStream implements StreamSource {
  readonly #options: ChangeStreamOptions;
  readonly #messages: { readonly value: unknown; readonly changedAt?: string }[] = [];
  readonly #closed = Promise.withResolvers<void>();
  #isClosed = false;
  #isBegun = false;

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
  }

  async next(): Promise<unknown> {
    const { subscription, context, positionMessage } = this.#options;
    try {
      if (!this.#isBegun) {
        this.#isBegun = true;
        return positionMessage(context.hub.cursors.seal(subscription.position));
      }
      while (this.#messages.length === 0) {
        const placed = await this.#patiently(() => subscription.next());
        if (!placed) return undefined;
        if (placed.length === 0) return positionMessage(context.hub.cursors.seal(subscription.position));
        await this.#read(placed);
      }
      const message = this.#messages.shift();
      if (message?.changedAt) context.hub.metrics.delivered(message.changedAt);
      return message?.value;
    } catch (error) {
      this.close(endReason(error));
      throw error;
    }
  }

  close(reason: string): void {
    const { context, subscription } = this.#options;
    this.#isClosed = true;
    this.#closed.resolve();
    this.#messages.length = 0;
    context.hub.unsubscribe(context.connection, subscription, reason);
  }

  async #read(placed: readonly PlacedChange[]): Promise<void> {
    const { context, registry, selections, isWanted, message } = this.#options;
    const wanted = isWanted ? placed.filter(isWanted) : placed;
    if (wanted.length === 0) return;
    const visible = await this.#patiently(() => visibleChanges(wanted, selections, context, registry));
    for (const one of visible ?? [])
      this.#messages.push({
        value: message(one, context.hub.cursors.seal(one.position)),
        changedAt: one.change.changedAt,
      });
  }

  /** Retries while the database is unreachable or busy: taken changes must not be lost. @returns undefined when it was closed meanwhile */
  async #patiently<T>(work: () => Promise<T>): Promise<T | undefined> {
    while (!this.#isClosed) {
      try {
        return await work();
      } catch (error) {
        if (!isAppError(error) || isRefusal(error)) throw error;
        const timer = Promise.withResolvers<void>();
        const timeout = setTimeout(timer.resolve, retryMs);
        await Promise.race([timer.promise, this.#closed.promise]);
        clearTimeout(timeout);
      }
    }
    return undefined;
  }
}
