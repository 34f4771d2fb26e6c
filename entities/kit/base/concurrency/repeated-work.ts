interface RepeatedWorkOptions {
  /** One round of the work. @returns whether there may be more */
  readonly round: () => Promise<boolean>;
  /** Asked before each round. While it is false, nothing begins. */
  readonly isEnabled: () => boolean;
  /** A failed round ends the work until it is woken again. */
  readonly onError: (error: unknown) => void;
}

/** Work in rounds, one at a time. `wake` is cheap and may be called at any time: during a round it asks for another one. */
export class RepeatedWork {
  readonly #options: RepeatedWorkOptions;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;

  constructor(options: RepeatedWorkOptions) {
    this.#options = options;
  }

  /** To be called when there may be something to do. */
  wake(): void {
    this.#isWanted = true;
    if (this.#running || this.#isStopped) return;
    this.#running = this.#run()
      .catch(this.#options.onError)
      .finally(() => {
        this.#running = undefined;
        // `wake` may have been called while the last round was ending.
        if (this.#isWanted && !this.#isStopped && this.#options.isEnabled()) this.wake();
      });
  }

  /** Begins no more rounds and waits for the one under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isStopped && this.#options.isEnabled()) {
      this.#isWanted = false;
      if (await this.#options.round()) this.#isWanted = true;
    }
  }
}
