import type { ConfiguredNames } from '../access/database-options.ts';
import type { Place } from '../access/lost-roles.ts';
import { AppError } from '../base/errors.ts';
import type { Behaviour } from '../model/behaviour.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { Registry } from '../model/registry.ts';
import type { Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeWork } from './change-work.ts';
import type { HeldField, HoldableChange, HoldRequest } from './held-changes.ts';
import type { Creation, NewRow } from './creations.ts';

type Row = Readonly<Record<string, unknown>>;

/** Facts for the completion of a creation. */
export interface Completing {
  readonly caller: Caller;
  readonly registry: Registry;
  /** Read from the current configuration. */
  readonly names: () => ConfiguredNames;
  readonly at: Date;
}

/** A change of a record that the caller may change. */
export interface CheckedChange {
  readonly work: ChangeWork;
  readonly registry: Registry;
  readonly module: EntityModule;
  readonly caller: Caller;
  readonly operation: 'edit' | 'remove';
  readonly row: Row;
  /** All values that are given. */
  readonly values: Row;
  /** Those of them that the row does not have. */
  readonly changed: Row;
}

/** Records of a kind (`follower`) that the server keeps in line with those of another one (`followed`). */
interface Follows {
  readonly kind: string;
  /** SQL: a condition on a follower, with the alias `row`: nobody but the server made it. */
  readonly which: string;
  /** Brings followers in line with new and changed records. @returns how many followers it changed */
  readonly align: (
    session: RoleSession,
    kinds: FollowingKinds,
    changes: readonly FollowedChange[],
    work: ChangeWork,
  ) => Promise<number>;
  /** Lines about records of the followed kind that are not followed as they should be. */
  readonly compare: (session: RoleSession, kinds: FollowingKinds, ids: readonly string[]) => Promise<string[]>;
}

/** A change of a record that others follow. */
export type FollowedChange = Pick<RecordedChange, 'id' | 'operation'>;

export interface FollowingKinds {
  readonly follower: EntityModule;
  readonly followed: EntityModule;
}

/** Held fields of records, or why their changes are refused, by the id of the record. */
export type Holding = ReadonlyMap<string, readonly HeldField[] | AppError>;

/**
 * A behaviour with its steps when records are written. The steps stand in the order in which `createRecords`, `planChanges` and
 * `makeConsequences` run them; in each step, the behaviours of a kind run in the order in which the kind lists them. Sessions are those of
 * the system role.
 */
export interface ChangeBehaviour<Name extends string = string> extends Behaviour<Name> {
  /** Adds values to a creation, and records that are created with it, for which the caller needs no right. */
  readonly complete?: (creation: Creation, completing: Completing) => Creation;
  /** Checks new rows that the caller may create, or sets their values; their references are checked afterwards. @throws AppError */
  readonly checkNew?: (work: ChangeWork, caller: Caller, rows: readonly NewRow[]) => void | Promise<void>;
  /** Why a record is not changed so, although the caller may change it. */
  readonly check?: (change: CheckedChange) => AppError | undefined | Promise<AppError | undefined>;
  /**
   * Decides which changed fields of records are held, or which deletions are, or why a change is refused, by the id of the record. It
   * writes nothing: the rest of a change can still be refused.
   */
  readonly hold?: (work: ChangeWork, caller: Caller, request: HoldRequest) => Holding | Promise<Holding>;
  /**
   * Records what it holds of changes that nothing refuses, each with the held fields alone, for example in requests to approve
   * (`changeRows`).
   */
  readonly recordHeld?: (work: ChangeWork, caller: Caller, request: HoldRequest) => Promise<void>;
  /** Runs when records were written, before the dependents of deleted ones are deleted: it writes more, or refuses. @throws AppError */
  readonly written?: (session: RoleSession, changes: readonly RecordedChange[], work: ChangeWork) => Promise<void>;
  /** Whether the deletion of a record leaves its dependents of a kind, which are removed later. */
  readonly leaves?: (dependent: EntityModule) => boolean;
  /** Whether the records of a kind are restored when the deletion of a record on which they depend is undone. */
  readonly restores?: (dependent: EntityModule) => boolean;
  /** SQL: a condition on a record of a kind, with the alias `d`: its removal is not still to come. */
  readonly isSettled?: (registry: Registry, dependent: EntityModule) => Sql;
  /** Runs when people have lost their roles in these organizations. */
  readonly rolesLost?: (
    session: RoleSession,
    module: EntityModule,
    left: readonly Place[],
    work: ChangeWork,
  ) => Promise<void>;
  readonly follows?: Follows;
}

const none: readonly ChangeBehaviour[] = [];

export function behavioursOf({ behaviours = none }: EntityModule): readonly ChangeBehaviour[] {
  // The steps are optional: a behaviour that was made without them is one that does nothing when records are written.
  return behaviours;
}

export function canHold(module: EntityModule): boolean {
  return behavioursOf(module).some(({ hold }) => hold);
}

/** The fields of a change, or the deletion, that one behaviour holds; `changed` has the held fields alone. */
interface HeldChange extends HoldableChange {
  readonly by: ChangeBehaviour;
  readonly id: string;
  readonly fields: readonly HeldField[];
}

export async function heldChanges(
  work: ChangeWork,
  caller: Caller,
  request: HoldRequest,
): Promise<{ held: HeldChange[]; refused: Map<string, AppError> }> {
  const held: HeldChange[] = [];
  const refused = new Map<string, AppError>();
  const { module, changes } = request;
  for (const by of behavioursOf(module)) {
    const found = changes.length > 0 ? await by.hold?.(work, caller, request) : undefined;
    for (const { row, changed } of changes) {
      const id = row['id'] as string;
      const decided = found?.get(id) ?? [];
      if (decided instanceof AppError) {
        if (!refused.has(id)) refused.set(id, decided);
        continue;
      }
      const fields = decided.filter(({ field }) => field === null || Object.hasOwn(changed, field));
      const own = Object.fromEntries(fields.flatMap(({ field }) => (field === null ? [] : [[field, changed[field]]])));
      if (fields.length > 0) held.push({ by, id, fields, row, changed: own });
    }
  }
  return { held: held.filter(({ id }) => !refused.has(id)), refused };
}

/** Lets the behaviours record what they hold. */
export async function recordHeld(
  work: ChangeWork,
  caller: Caller,
  about: Omit<HoldRequest, 'changes'>,
  held: readonly HeldChange[],
): Promise<void> {
  for (const [by, changes] of Map.groupBy(held, (change) => change.by))
    await by.recordHeld?.(work, caller, { ...about, changes });
}

/** A creation and its children as the behaviours of their kinds complete them. Added records are not completed again. */
export function completed(creation: Creation, completing: Completing): Creation {
  const { module, children = [] } = creation;
  const below = children.map((child) => ({ ...child, creation: completed(child.creation, completing) }));
  return behavioursOf(module).reduce<Creation>((given, { complete }) => complete?.(given, completing) ?? given, {
    ...creation,
    children: below,
  });
}

/** @param changes that were written in this transaction. @throws AppError of a behaviour that refuses them */
export async function afterWriting(
  session: RoleSession,
  changes: readonly RecordedChange[],
  work: ChangeWork,
): Promise<void> {
  for (const [module, own] of Map.groupBy(changes, (change) => change.module))
    for (const { written } of behavioursOf(module)) await written?.(session, own, work);
}

/** Which dependents the deletion of a record leaves; undefined if it leaves none. */
export function leavesOf(module: EntityModule): ChangeBehaviour['leaves'] {
  return behavioursOf(module).find(({ leaves }) => leaves)?.leaves;
}

/** Which dependents are restored when the deletion of a record is undone; undefined if it cannot be undone. */
export function restoresOf(module: EntityModule): ChangeBehaviour['restores'] {
  return behavioursOf(module).find(({ restores }) => restores)?.restores;
}

/** How the records of a kind follow those of another one; undefined if they follow none. */
export function followsOf(module: EntityModule): Follows | undefined {
  return behavioursOf(module).find(({ follows }) => follows)?.follows;
}

export function followersOf(registry: Registry, { kind }: EntityModule): { module: EntityModule; follows: Follows }[] {
  return registry.modules.flatMap((module) => {
    const follows = followsOf(module);
    return follows?.kind === kind ? [{ module, follows }] : [];
  });
}
