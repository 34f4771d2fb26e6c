import type { ErrorCode, FieldProblem } from '../base/errors.ts';
import type { Traits } from './traits.ts';

/**
 * A rule that few kinds have, as one of them declares it. `entities/kit/behaviours/` has the functions that make behaviours. These are the
 * parts that need no transaction; `ChangeBehaviour` (write/change-behaviour.ts) has what happens when records are written.
 */
export interface Behaviour<Name extends string = string> {
  /** Fields of the kind that it names. */
  readonly fields: readonly Name[];
  /** Its rules as sentences of the policy reference. */
  readonly rules?: readonly string[];
  readonly refusals?: readonly Refusal<Name>[];
  /** Codes with which it refuses values of new and changed records, besides those of `refusals`. */
  readonly checkErrors?: readonly ErrorCode[];
  /** Problems of the values of a whole record, besides those of single fields. */
  readonly problemsOf?: (values: Readonly<Record<string, unknown>>) => readonly FieldProblem[];
  /** Addition to the descriptions of a deletion: sentences. */
  readonly deletionNote?: string;
  /** Kinds whose records admit to a record of this kind, and end with it. */
  readonly admittingKinds?: readonly string[];
  /** Fields, by their kind, that announce the deletion of a record of this kind. */
  readonly announcingFields?: Readonly<Record<string, readonly string[]>>;
  /** Properties that the kind gets. */
  readonly traits?: Traits;
  readonly verdicts?: VerdictFields<Name>;
  /** Fields that describe a list of records. */
  readonly list?: ListFields<Name>;
}

export type RefusedOperation = 'create' | 'edit' | 'remove';

/** Changes that are refused, whoever makes them. */
export interface Refusal<Name extends string = string> {
  /** The operations that it concerns; default: only `create`. */
  readonly on?: readonly RefusedOperation[];
  /** The server's own work is not refused. */
  readonly unlessSystem?: true;
  /**
   * SQL: a condition on the stored row with the alias `row` (its id, its declared fields and `created_at`, and as `index` its number among
   * the rows of the operation, from 0), on the row as it would be with
   * the alias `given`, and on stored rows of any kind. Of a creation, both are the new row.
   */
  readonly refuseIf: string;
  /** The field that the error names. */
  readonly field: Name;
  readonly code: ErrorCode;
  readonly message: string;
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

/** Fields of a kind whose records describe a list of records of a kind, for work that is done later. */
export interface ListFields<Name extends string = string> {
  /** Holds the name of the kind. */
  readonly kind: Name;
  /** Holds names of fields; default: those that an import needs. */
  readonly fields?: Name;
  /** Holds a filter as JSON. */
  readonly filter?: Name;
  /** Holds names of fields, with a minus before those in descending order. */
  readonly orderBy?: Name;
  /** Holds what an import does to the records: `create` or `update`. */
  readonly action?: Name;
}

interface Behaving {
  readonly behaviours?: readonly Behaviour[];
}

/** The fields with which records of a kind describe a list; undefined if they describe none. */
export function listFieldsOf({ behaviours }: Behaving): ListFields | undefined {
  return behaviours?.find(({ list }) => list)?.list;
}

export function refusalsOf({ behaviours = [] }: Behaving): readonly Refusal[] {
  return behaviours.flatMap(({ refusals = [] }) => refusals);
}
