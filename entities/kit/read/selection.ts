import type { EntityModule } from '../model/define.ts';
import type { ChoiceWords } from './choice-form.ts';
import type { FilePart } from './file-selection.ts';
import type { Comparison, Filter } from './filter.ts';
import type { Bound } from './placeholder.ts';
import type { OrderTerm } from './order.ts';
import type { Relation, ToMany, ToOne } from './relations.ts';

/** The selected parts of one record. `as` is the name of a value in the answer. @typeParam Cursor type of cursors: text, or parsed values */
export interface RecordSelection<Cursor = string> {
  readonly module: EntityModule;
  readonly parts: readonly RecordPart<Cursor>[];
}

export type RecordPart<Cursor = string> =
  | { readonly is: 'typename'; readonly as: string }
  | { readonly is: 'value'; readonly as: string; readonly field: string; readonly words?: ChoiceWords }
  /** Whether the record is the session of the caller. */
  | { readonly is: 'current'; readonly as: string }
  /** Whether a change or the deletion of the record waits for approvals. */
  | { readonly is: 'openProposal'; readonly as: string; readonly relation: Relation }
  | { readonly is: 'file'; readonly as: string; readonly field: string; readonly parts: readonly FilePart[] }
  | { readonly is: 'one'; readonly as: string; readonly relation: ToOne; readonly record: RecordSelection<Cursor> }
  | { readonly is: 'page'; readonly as: string; readonly relation: ToMany; readonly page: PageSelection<Cursor> };

/** The selected parts of a list: the first or the last `size` records between the cursors. */
export interface PageSelection<Cursor = string> {
  readonly module: EntityModule;
  /** The text by which the search function of the kind finds the records. */
  readonly found?: Bound<string>;
  readonly filter?: Filter;
  /** Whether the list also has what is the caller's own in other organizations (`rlsUsing`). */
  readonly isEverywhere?: true;
  readonly orderBy: readonly OrderTerm[];
  readonly size: number;
  readonly from: 'first' | 'last';
  readonly after?: Cursor;
  readonly before?: Cursor;
  readonly parts: readonly PagePart<Cursor>[];
}

export type PagePart<Cursor = string> =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | { readonly is: 'edges'; readonly as: string; readonly parts: readonly EdgePart<Cursor>[] }
  /** The records alone, without the edges of a connection. */
  | { readonly is: 'records'; readonly as: string; readonly record: RecordSelection<Cursor> }
  | { readonly is: 'pageInfo'; readonly as: string; readonly parts: readonly PageInfoPart[] }
  | { readonly is: 'totalCount'; readonly as: string };

export type EdgePart<Cursor = string> =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | { readonly is: 'cursor'; readonly as: string }
  | { readonly is: 'node'; readonly as: string; readonly record: RecordSelection<Cursor> };

export type PageInfoPart =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | {
      readonly is: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor';
      readonly as: string;
    };

/** A part of an answer that consists of several lists. */
export type ListsPart<Cursor = string> =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | { readonly is: 'page'; readonly as: string; readonly page: PageSelection<Cursor> };

/** Which whole rows are read, for changes and decisions. */
export interface RowsSelection<Limit = number> {
  readonly where?: Readonly<Record<string, Comparison>>;
  readonly orderBy?: readonly OrderTerm[];
  readonly limit: Limit;
  /** Locks the rows until the end of the transaction, for a change or a deletion that depends on the values read. */
  readonly lockFor?: LockedOperation;
}

export type LockedOperation = 'edit' | 'remove';
