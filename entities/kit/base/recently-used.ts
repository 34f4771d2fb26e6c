/** A bounded cache: when it is full, the least recently used value is dropped. */
export class RecentlyUsed<Value> {
  readonly #values = new Map<string, Value>();
  readonly #maxSize: number;
  readonly #onDrop: ((value: Value) => void) | undefined;

  /** @param onDrop called with each value that is dropped because the cache is full */
  constructor(maxSize: number, onDrop?: (value: Value) => void) {
    this.#maxSize = maxSize;
    this.#onDrop = onDrop;
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    // A map iterates in insertion order, so its first key is the least recently used one.
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#maxSize) return;
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
