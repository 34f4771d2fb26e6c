import type { RecordedChange } from './changes.ts';
import type { Written } from './records.ts';
import { objectName } from './tuples.ts';

/** What a unit of work has left behind so far, for what has to follow its commit. */
export class Tally {
  pendingEvents = 0;
  tupleChanges = 0;
  /** Scopes in which decisions about records change that were there before. */
  readonly raisedScopes = new Set<string>();
  /** Records that were made or deleted, as the authorization store names them. */
  readonly #ownObjects = new Set<string>();

  add({ pendingEvents, tupleChanges, raisedScopes }: Written): void {
    this.pendingEvents += pendingEvents;
    this.tupleChanges += tupleChanges;
    for (const scope of raisedScopes) this.raisedScopes.add(scope);
  }

  /**
   * Whether a changed tuple changes decisions about a record that others may know already.
   * @param changes of the same flush, whose records count as this unit's own
   */
  isAboutOthers(object: string, changes: readonly RecordedChange[]): boolean {
    for (const { operation, module, id } of changes)
      if (operation !== 'updated') this.#ownObjects.add(objectName(module.kind, id));
    return !this.#ownObjects.has(object);
  }
}
