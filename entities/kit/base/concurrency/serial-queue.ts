/** Runs asynchronous functions one after the other, in the order of the calls. */
export class SerialQueue {
  /** Settles when the last queued function has ended; never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  /** @returns the result of the work, or its failure, which does not affect the work queued after it */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when everything queued so far has succeeded or failed. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
