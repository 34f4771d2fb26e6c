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

/** Creations that are refused, whoever makes them. */
export interface CreationRefusal<Name extends string> {
  /** SQL: a condition on the new row, with the alias `row` (its declared fields and `created_at`), and on stored rows of any kind. */
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
