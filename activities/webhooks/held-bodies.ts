/** Length of all bodies that one process holds: with records in them, those of a few endpoints could fill its memory. */
const maxLength = 32_000_000;

/** The bodies of messages that are on their way, of all endpoints to which this process sends. */
export class HeldBodies {
  #length = 0;

  get isFull(): boolean {
    return this.#length >= maxLength;
  }

  /** Keeps a body while the work with it continues. */
  async during<T>(body: string, work: () => Promise<T>): Promise<T> {
    this.#length += body.length;
    try {
      return await work();
    } finally {
      this.#length -= body.length;
    }
  }
}
