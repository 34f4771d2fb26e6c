/**
 * Stands in a compiled statement for a value of the query, by its index among them. It is bound as it is: made into text it would
 * be compared as that text, so that is an error.
 */
export class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }

  toString(): string {
    throw new TypeError(`placeholder ${this.index} can only be bound`);
  }

  toJSON(): string {
    return this.toString();
  }
}

/** A value, or the placeholder for it. */
export type Bound<Value> = Value | Placeholder;
