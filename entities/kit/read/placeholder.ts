/**
 * A placeholder in a compiled statement for a value of the query, identified by the index of that value. Converting it to text is
 * an error: the statement would contain that text instead of the value.
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

export type Bound<Value> = Value | Placeholder;
