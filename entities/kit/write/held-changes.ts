import type { EntityModule } from '../model/define.ts';

type Row = Readonly<Record<string, unknown>>;

/** A field of a change that is not written now, while the others are; or a deletion that is not made now. */
export interface HeldField {
  /** Null: the deletion of the record is held. */
  readonly field: string | null;
  /** The reason, as text for people. */
  readonly message: string;
  /** The record that has the held value until it is decided. */
  readonly proposal?: { readonly kind: string; readonly id: string };
}

/** The held part of the last change of a record. */
export interface HeldPart {
  readonly fields: readonly HeldField[];
  /** Nothing of the change was written. */
  readonly isWhole: boolean;
}

/** A change of a record that nothing refuses. */
export interface HoldableChange {
  readonly row: Row;
  /** Given values that the row does not have; empty for a deletion. */
  readonly changed: Row;
}

/** The same operation on records of one kind. */
export interface HoldRequest {
  readonly module: EntityModule;
  readonly operation: 'edit' | 'remove';
  readonly changes: readonly HoldableChange[];
}
