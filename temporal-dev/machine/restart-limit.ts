import { StackError } from './stack-error.ts';

/** A process that ends this often in one run is not started again. */
const MAX_ENDS = 3;

/** Counts how often each process of a run has ended by itself. */
export class RestartLimit {
  readonly #ends = new Map<string, number>();

  /** Counts an end. Throws a StackError that names the command that helps when the process must not be started again. */
  count(name: string, how: string): void {
    const ends = (this.#ends.get(name) ?? 0) + 1;
    this.#ends.set(name, ends);
    if (ends < MAX_ENDS) return;
    throw new StackError(
      `${name} ended ${ends} times, now with ${how}; to see why, run: npm run stack -- logs ${name}`,
    );
  }
}
