import type { Caller } from '../model/caller.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import { limitExceeded } from '../base/input-error.ts';
import { objectName } from '../model/tuples.ts';

/** Maximum number of records that one operation creates or changes. */
export const maxRows = 1_000;

/** @param path JSON pointer of the list of records in the input; default: the whole input @throws AppError limit_exceeded */
export function checkRowCount(count: number, path = '/'): void {
  if (count <= maxRows) return;
  const message = `One operation can create or change at most ${maxRows} records; split it.`;
  throw limitExceeded(message, { path, message: `results in more than ${maxRows} records` });
}

/** Effects of recorded changes that matter at the commit and after it. */
interface ChangeEffects {
  /** Events with a listener, and messages to endpoints. */
  readonly pendingEvents: number;
  readonly tupleChanges: number;
  readonly objectChanges: number;
  /** Changes that subscribers receive. */
  readonly feedChanges: number;
  /** Scopes with changed rights to existing records. */
  readonly raisedScopes: ReadonlySet<string>;
}

/** Tables with changed records; with the organization where only its callers see them: `tasks 01K…`. */
export type ChangedRecords = ReadonlySet<string>;

/** Counts the changes of a unit of work, for its limits and for the work after its commit. */
export class ChangeCounters {
  pendingEvents = 0;
  tupleChanges = 0;
  objectChanges = 0;
  feedChanges = 0;
  /** Scopes with changed rights to records that existed before. */
  readonly raisedScopes = new Set<string>();
  readonly #changedRecords = new Set<string>();
  /** Object names of the records that this unit of work created or deleted. */
  readonly #ownObjects = new Set<string>();
  /** Ids of the records that this unit of work has created or changed, by kind; empty unless `listWritten` was called. */
  readonly written = new Map<string, Set<string>>();
  #listsWritten = false;
  /** Records that were counted so far (`reserve`). */
  reserved = 0;

  /**
   * Counts records before they are created or changed, over all fields of a GraphQL operation.
   * @param caller of the unit of work; system callers have no limit
   * @throws AppError limit_exceeded
   */
  reserve(count: number, { kind }: Caller): void {
    if (kind === 'system') return;
    this.reserved += count;
    checkRowCount(this.reserved);
  }

  /** Begins another part of work that has no limit as a whole. A record of the previous parts would grow with their number. */
  beginPart(): void {
    this.reserved = 0;
    this.#ownObjects.clear();
  }

  get changedRecords(): ChangedRecords {
    return this.#changedRecords;
  }

  /** Lists from now on the records that are created or changed. Units of work without a limit would list too many. */
  listWritten(): void {
    this.#listsWritten = true;
  }

  addRecord(change: RecordedChange): void {
    const { module, organizationId } = change;
    if (this.#listsWritten) this.#list(change);
    const isOfOne = module.tenancy === 'organization' && !module.rlsUsing;
    this.#changedRecords.add(isOfOne ? `${module.table} ${organizationId}` : module.table);
  }

  /** Changes that follow from other changes were not requested. */
  #list({ module, operation, id, isCascaded }: RecordedChange): void {
    const ids = this.written.get(module.kind) ?? new Set();
    this.written.set(module.kind, ids);
    if (operation === 'deleted') ids.delete(id);
    else if (!isCascaded) ids.add(id);
  }

  add({ pendingEvents, tupleChanges, objectChanges, raisedScopes }: ChangeEffects): void {
    this.pendingEvents += pendingEvents;
    this.tupleChanges += tupleChanges;
    this.objectChanges += objectChanges;
    for (const scope of raisedScopes) this.raisedScopes.add(scope);
  }

  /**
   * Whether a changed tuple changes rights to a record that existed before, so that cached decisions can be wrong.
   * @param changes of the same flush; the records that they create or delete are not treated as existing
   */
  changesExistingRights(object: string, changes: readonly RecordedChange[]): boolean {
    for (const { operation, module, id } of changes)
      if (operation !== 'updated') this.#ownObjects.add(objectName(module.kind, id));
    return !this.#ownObjects.has(object);
  }
}
