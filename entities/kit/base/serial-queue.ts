/** Runs pieces of asynchronous work one after the other, in the order they were handed in. */
export class SerialQueue {
  /** The last of them; never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  /** @returns the result of the work, or its failure; others are not touched by it */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when what was handed in so far has ended, well or not. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
