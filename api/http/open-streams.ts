/** Work that continues until it is ended: streams of answers, and websockets. */
export class OpenStreams {
  readonly #ends = new Set<() => void>();

  /** @param end notifies the clients, and ends the streams soon after */
  onStop(end: () => void): void {
    this.#ends.add(end);
  }

  /** To be called when the process stops, before it waits for requests in progress. */
  stop(): void {
    for (const end of this.#ends) end();
  }
}
