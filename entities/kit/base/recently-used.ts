/** Values by key, so many at the most: the one that was not asked for the longest makes room. */
export class RecentlyUsed<Value> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;
  readonly #onDrop: ((value: Value) => void) | undefined;

  /** @param onDrop told of each value that makes room */
  constructor(most: number, onDrop?: (value: Value) => void) {
    this.#most = most;
    this.#onDrop = onDrop;
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    // A map keeps the order in which keys came: the first one is the one to drop.
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#most) return;
    const [oldest] = this.#values;
    if (!oldest) return;
    this.#values.delete(oldest[0]);
    this.#onDrop?.(oldest[1]);
  }

  values(): Iterable<Value> {
    return this.#values.values();
  }

  clear(): void {
    this.#values.clear();
  }
}
