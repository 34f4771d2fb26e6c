import type { ErrorCode } from '../base/errors.ts';

/** A field with a role of the organization, which the record gives to somebody. */
export interface RoleGiving<Name extends string> {
  readonly field: Name;
  /** The person who has the role; they may give it up themselves. */
  readonly holder?: Name;
}

/** While an organization exists, the last of its records with a value is kept. */
export interface LastKept<Name extends string> {
  readonly field: Name;
  readonly is: string;
  /** SQL: a condition on a record, with the alias `held`, without which it does not count. Whoever makes it false locks the organization. */
  readonly countsIf?: string;
  /** The message of a refusal, shown to the caller. */
  readonly message: string;
}

export type RefusedOperation = 'create' | 'edit' | 'remove';

/** Changes that are refused, whoever makes them. */
export interface Refusal<Name extends string> {
  /** The operations that it concerns; default: only `create`. */
  readonly on?: readonly RefusedOperation[];
  /** The server's own work is not refused. */
  readonly unlessSystem?: true;
  /**
   * SQL: a condition on the stored row with the alias `row` (its id, its declared fields and `created_at`), on the row as it would be with
   * the alias `given`, and on stored rows of any kind. Of a creation, both are the new row.
   */
  readonly refuseIf: string;
  /** The field that the error names. */
  readonly field: Name;
  readonly code: ErrorCode;
  readonly message: string;
}

/** A right to the record in the field `on` that creations and deletions of records with a value need. */
export interface Restriction {
  readonly field: string;
  readonly is: string;
  readonly on: string;
  readonly requires: 'remove';
}

/** Makes a person the manager of a record by a record of another kind. */
export interface ManagedBy {
  /** Kind of that record. */
  readonly kind: string;
  /** Its reference to the managed record. */
  readonly record: string;
  /** Its reference to the person. */
  readonly person: string;
  /** Its other values. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Fields of a kind whose records are verdicts on stored files. The reference to the record that has the file is set by the server: the
 * field that refers to its kind.
 */
export interface VerdictFields<Name extends string = string> {
  /** Holds the id of the stored object. */
  readonly object: Name;
  /** Holds the verdict: `clean` or `infected`. */
  readonly verdict: Name;
}
