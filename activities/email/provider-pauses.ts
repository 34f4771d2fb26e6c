/** Pause after an answer that names none, in milliseconds. */
const usualMs = 5_000;

/** A provider that asks for more is asked again after this, in milliseconds: it may mean a day. */
const maxMs = 15 * 60_000;

/**
 * Providers that have answered that there are too many requests. Until the pause is over, this process sends them nothing, whatever mail
 * comes next; those that have waited do not all begin at the same moment.
 */
export class ProviderPauses {
  readonly #endsAt = new Map<string, number>();

  pause(carrier: string, retryAfterMs = usualMs): void {
    const until = performance.now() + Math.min(Math.max(retryAfterMs, 1_000), maxMs);
    this.#endsAt.set(carrier, Math.max(until, this.#endsAt.get(carrier) ?? 0));
  }

  /** How long a mail has to wait, in milliseconds; 0 when the provider is not paused. */
  remainingMs(carrier: string): number {
    const leftMs = (this.#endsAt.get(carrier) ?? 0) - performance.now();
    return leftMs <= 0 ? 0 : leftMs + Math.random() * Math.min(leftMs, usualMs);
  }
}
