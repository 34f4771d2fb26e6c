import {
  failingListeners,
  isListenerHeld,
  noteListenerFailure,
  noteListenerSuccess,
  type ListenerFailure,
} from '#entities/kit/outbox/listener-states.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** Which listeners fail, as far as the delivery of one batch knows. A healthy listener costs no statement. */
export class ListenerHealth {
  readonly #failing: Map<string, { isHeld: boolean }>;
  /** Listeners that this batch has found to fail on everything. */
  readonly heldHere = new Set<string>();

  private constructor(failing: Map<string, { isHeld: boolean }>) {
    this.#failing = failing;
  }

  static async read(unit: UnitOfWork): Promise<ListenerHealth> {
    return new ListenerHealth(new Map(await failingListeners(unit)));
  }

  /** Whether the listener was held when it was last looked at. */
  seemsHeld(listener: string): boolean {
    return this.#failing.get(listener)?.isHeld ?? false;
  }

  /** Whether its events have to wait. To be called after the records were locked. */
  async isHeld(unit: UnitOfWork, listener: string): Promise<boolean> {
    if (!this.seemsHeld(listener)) return false;
    const isHeld = await isListenerHeld(unit, listener);
    if (!isHeld) this.#failing.delete(listener);
    return isHeld;
  }

  async succeeded(unit: UnitOfWork, listener: string): Promise<void> {
    if (this.#failing.get(listener)?.isHeld === false) await noteListenerSuccess(unit, listener);
  }

  /** It keeps failing on an event. */
  async failed(unit: UnitOfWork, failure: ListenerFailure): Promise<void> {
    const { listener } = failure;
    const isHeld = await noteListenerFailure(unit, failure);
    if (isHeld && !this.seemsHeld(listener)) this.heldHere.add(listener);
    this.#failing.set(listener, { isHeld });
  }
}
