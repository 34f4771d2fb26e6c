import type { Caller } from '../model/caller.ts';
import type { RecordedChange } from '../model/changes.ts';
import { AppError } from '../base/errors.ts';
import { objectName } from '../model/tuples.ts';

/** Most records that one operation makes or changes. */
export const maxRows = 1_000;

/** @param path of the list that has them, as a JSON pointer, where there is one @throws AppError limit_exceeded */
export function checkRowCount(count: number, path?: string): void {
  if (count <= maxRows) return;
  const message = `One operation makes or changes ${maxRows} records at the most; split it.`;
  const fields = path === undefined ? [] : [{ path, message: `stands for more than ${maxRows} records` }];
  throw new AppError('limit_exceeded', message, { details: fields.length > 0 ? { fields } : {} });
}

/** What follows from recorded changes at the commit. */
interface ChangeEffects {
  readonly pendingEvents: number;
  readonly tupleChanges: number;
  /** Scopes in which decisions about existing records change. */
  readonly raisedScopes: ReadonlySet<string>;
}

/** What a unit of work has done so far, for its limits and for what has to follow its commit. */
export class ChangeCounters {
  pendingEvents = 0;
  tupleChanges = 0;
  /** Scopes in which decisions about records change that were there before. */
  readonly raisedScopes = new Set<string>();
  /** Records that were made or deleted, as the authorization store names them. */
  readonly #ownObjects = new Set<string>();
  #asked = 0;

  /**
   * Counts records that an operation makes or changes, over all fields of a GraphQL operation.
   * @param caller of the unit of work; the server itself is trusted
   * @throws AppError limit_exceeded
   */
  reserve(count: number, { kind }: Caller): void {
    if (kind === 'system') return;
    this.#asked += count;
    checkRowCount(this.#asked);
  }

  add({ pendingEvents, tupleChanges, raisedScopes }: ChangeEffects): void {
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
