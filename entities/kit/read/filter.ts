import type { Relation } from './relations.ts';

/** Comparisons of one field; a row must meet all of them. */
export interface Comparison {
  readonly eq?: unknown;
  readonly ne?: unknown;
  readonly in?: readonly unknown[];
  readonly notIn?: readonly unknown[];
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly contains?: string;
  readonly startsWith?: string;
  readonly endsWith?: string;
  readonly isNull?: boolean;
  /** The list contains this value. */
  readonly has?: string;
}

/** A condition on records. */
export type Filter =
  | { readonly is: 'field'; readonly field: string; readonly comparison: Comparison }
  /** A related record exists that the caller may see and that meets the filter. */
  | { readonly is: 'related'; readonly relation: Relation; readonly filter: Filter }
  /** A change or the deletion of the record waits for approvals, of which the caller may see the proposal. */
  | { readonly is: 'openProposal'; readonly relation: Relation }
  | { readonly is: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly is: 'not'; readonly filter: Filter };
