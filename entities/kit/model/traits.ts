import type { Announcement } from './announcement.ts';
import type { VisitorKind } from './caller.ts';

/** Which callers reach the records of a kind, besides those of its tenancy. */
export interface WiderReach {
  /**
   * The USING expression of the row-level security policy of the app role, for kinds whose tenancy does not define it: SQL over
   * the table's columns, with `$organization` and `$user` for the caller's ids.
   */
  readonly rlsUsing?: string;
  /** The WITH CHECK expression of that policy, where it is stricter than `rlsUsing`. */
  readonly rlsWithCheck?: string;
  /** Visitors without an account who reach its records, as far as its rules allow. */
  readonly openTo?: readonly VisitorKind[];
  /**
   * Reach of confined callers (`confinement.ts`) in a kind whose records belong to no organization: the record of the organization in
   * which they act, that of their own session, or all that the person can view, without changing any. Absent: nothing.
   */
  readonly confinedReach?: 'organization' | 'session' | 'view';
}

/** Further requirements of callers, besides a right. */
export interface Guards {
  /** Only people who are signed in reach its records, or (`changes`) change them; kinds of tenancy `user` need no such line. */
  readonly needsSession?: true | 'changes';
  /** A caller who acts as another user reaches none of its records, or (`changes`) changes none, although tokens do. */
  readonly closedToDelegates?: true | 'changes';
  /** A caller who creates a record acts in an organization that has a payment method, where the configuration requires one. */
  readonly needsPaymentMethod?: true;
  /** A caller who deletes a record, other than together with one on which it depends, has proven their identity recently. */
  readonly deletionNeedsProof?: true;
}

/** Records from which the state of callers is read. A change is noted for the callers that it concerns (storage/caller-triggers.ts). */
export interface CallerDeciding<Name extends string> {
  /** The field with the id of the person, session, token, delegation or organization whose callers a record concerns. */
  readonly of: Name | 'id';
  /** The other fields that the state depends on, besides that of the tenancy. */
  readonly by: readonly Name[];
}

/** Part of a kind that workflows know. */
export interface Automation {
  /** Fields whose changes can be held until they are approved, and that actions of workflows can set. */
  readonly fields: readonly string[];
}

/** A derived mutation that is going to be removed. */
export interface DeprecatedMutation {
  /** Since when clients should no longer use it: a day, such as `2026-05-01`. */
  readonly since: string;
  /** Action that takes its place, by its name. */
  readonly instead: string;
}

export type DeprecatedMutations = Readonly<Partial<Record<'create' | 'update' | 'delete', DeprecatedMutation>>>;

/** Statements of behaviours about callers, for the code that decides about callers. */
export interface Traits extends WiderReach, Guards {
  /** Mutations that clients should no longer use, over REST and GraphQL. */
  readonly deprecatedMutations?: DeprecatedMutations;
  /** Workflows react to changes of its records, and can hold some. */
  readonly automation?: Automation;
  /** Endpoints receive its events although no API token reads its records. */
  readonly announced?: Announcement<string>;
  /** Its records decide who callers are and what they may do: `request_context` and the functions called by it read them. */
  readonly decidesCallers?: CallerDeciding<string>;
}
