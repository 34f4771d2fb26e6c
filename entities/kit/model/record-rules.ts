import type { ErrorCode } from '../base/errors.ts';

/** A unique key over live rows; the values of soft-deleted rows can be used again. */
export interface UniqueKey<Name extends string = string> {
  readonly fields: readonly Name[];
  /** The message of a conflict, shown to the caller. */
  readonly message: string;
  /** A text field of the key whose values are the same if they look the same (base/name-form.ts). */
  readonly comparedAsName?: Name;
  /** The field that the error of a conflict names, where callers do not know those of the key. */
  readonly names?: Name;
}

/** A field with a role of the organization, which the record gives to somebody. */
export interface RoleGiving<Name extends string> {
  readonly field: Name;
  /** The person who has the role; they may give it up themselves. */
  readonly holder?: Name;
}

/** Records from which the state of callers is read. A change is noted for the callers that it concerns (storage/caller-triggers.ts). */
export interface CallerDeciding<Name extends string> {
  /** The field with the id of the person, session, token, delegation or organization whose callers a record concerns. */
  readonly of: Name | 'id';
  /** The other fields that the state depends on, besides that of the tenancy. */
  readonly by: readonly Name[];
}

/** While an organization exists, the last of its records with a value is kept. */
export interface LastKept<Name extends string> {
  readonly field: Name;
  readonly is: string;
  /**
   * SQL: a condition on a record, with the alias `held`, without which it is not valid. A change that makes it false locks the
   * organization.
   */
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
  /**
   * Field of the managed record itself for a person whose role comes from a parent organization alone: only members of the organization
   * can have the other record.
   */
  readonly outside: string;
}

/** Lists of the configuration from which companions are made. */
export interface ConfiguredNames {
  /** `ormconfig.entitytypes`. */
  readonly entityTypes: readonly string[];
}

/** A record that the server creates together with each record of a kind, unless the creation brings one of its own. */
export interface Companion {
  readonly kind: string;
  /** Its field with the id of the record. */
  readonly record: string;
  readonly values?: Readonly<Record<string, unknown>>;
  /** One for each name of a list, which is the value of this field. */
  readonly forEach?: { readonly list: keyof ConfiguredNames; readonly field: string };
  /** Only for records with this value. */
  readonly when?: { readonly field: string; readonly is: unknown };
  /** Created together with it. */
  readonly companions?: readonly Companion[];
}

/**
 * Records that belong to the records of a kind and can be reached only through them are hidden by their deletion, and removed afterwards,
 * in pieces: however much there is, a deletion takes a moment.
 */
export interface LaterRemoval {
  /** Kind of the record that is created with the deletion, and says how far the removal is. */
  readonly kind: string;
  /** Its fields for the id and the name of the deleted record, and for the id of the person who deleted it. */
  readonly fields: { readonly id: string; readonly name: string; readonly person: string };
  /** Kinds whose records end with the deletion: they admit to an organization, or are found without being in it. */
  readonly atOnce: readonly string[];
  /** Addition to the descriptions of a deletion: sentences. */
  readonly note: string;
}

/** Records that the server keeps in line with those of another kind: each transaction that changes one also changes what follows it. */
export interface Following {
  /** The kind that is followed. */
  readonly kind: string;
  /** Fields of both kinds whose values are equal: the records with those of a followed record belong to it. */
  readonly by: readonly string[];
  /** SQL: `table as alias on condition`: a record must be there for each such row and followed record, whose alias is `followed`. */
  readonly from: string;
  /** SQL: its values besides those of `by`, by field. */
  readonly values: Readonly<Record<string, string>>;
  /** SQL: a condition on a record, with the alias `row`, without which it was made by somebody and is left alone. */
  readonly which: string;
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

/** Fields with texts that have variables as `{{name}}`. */
export interface TextVariables<Name extends string = string> {
  readonly texts: readonly Name[];
  /** The field whose value says which variables there are. It is immutable. */
  readonly by: Name;
  readonly known: Readonly<Record<string, readonly string[]>>;
}
