/** A unique key over live rows; the values of soft-deleted rows can be used again. */
export interface UniqueKey<Name extends string = string> {
  readonly fields: readonly Name[];
  /** The message of a conflict, shown to the caller. */
  readonly message: string;
  /** A text field of the key whose values are the same if they look the same (base/name-form.ts). */
  readonly comparedAsName?: Name;
  /** The field that the error of a conflict names, where callers do not know those of the key. */
  readonly names?: Name;
  /** A flag: only records that have it share the key. */
  readonly onlyIf?: Name;
}

/** A right to the record in the field `on` that creations and deletions of records with a value need. */
export interface Restriction {
  readonly field: string;
  readonly is: string;
  readonly on: string;
  readonly requires: 'remove';
}

/** A relation of many records to many of another kind (`joins` in an entity file). */
export interface Join {
  /** The other kind. Each of the two lists the records of the other one, under the plural of their kind. */
  readonly to: string;
}

/** One side of a kind of links. */
export interface JoinSide {
  readonly kind: string;
  /** Field of the link that holds the id of the record. */
  readonly field: string;
  /** Name of the list of these records on records of the other side. */
  readonly listed: string;
}
