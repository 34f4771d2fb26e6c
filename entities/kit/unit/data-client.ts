import { refreshCaller } from '../access/principal-state.ts';
import { Answers } from './answers.ts';
import { actorOf, databaseRoleOf, systemCaller, type Caller } from '../model/caller.ts';
import { isDecidedAbove, newRows, type Creation } from '../write/creations.ts';
import type { ChangesOf, CreationOf, EntityModule, RowOf, TypedModule, Tenancy } from '../model/define.ts';
import { differences, organizationOf } from '../model/changes.ts';
import { deniedMessage } from '../model/denied-message.ts';
import { AppError } from '../base/errors.ts';
import { withDerivedValues } from '../model/hooks.ts';
import type { Fields } from '../model/fields.ts';
import { validateChanges } from '../model/input.ts';
import { missingRecord } from '../model/missing-record.ts';
import { newReferences } from '../write/new-references.ts';
import { refuseSwitchedOff } from '../model/product-modules.ts';
import { Decisions } from '../access/decision.ts';
import type { Operation } from '../model/policy.ts';
import { compileRead } from '../read/rows.ts';
import type { Comparison } from '../read/where.ts';
import { checkReferences, isMove, lockHierarchies, referencesIn } from '../write/references.ts';
import { changeSet, type SetResult } from '../write/set-change.ts';
import { refuseUniqueConflicts } from '../write/unique-conflicts.ts';
import type { UnitOfWork } from './unit-of-work.ts';

type Row = Record<string, unknown>;
type AnyTyped = TypedModule<Fields, Tenancy>;

export interface FindQuery<M> {
  readonly where?: { readonly [Name in keyof RowOf<M>]?: Comparison };
  readonly orderBy?: readonly { readonly field: keyof RowOf<M> & string; readonly direction: 'asc' | 'desc' }[];
  /** Rows at the most. */
  readonly limit?: number;
}

/** A change of one record. */
interface Change {
  readonly module: EntityModule;
  readonly id: string;
  readonly operation: 'edit' | 'remove';
  readonly values: Row;
  /** The version that it is made for; whichever there is when undefined. */
  readonly recordVersion: number | undefined;
}

/**
 * The only door to data outside this folder. Every read and every change passes the caller's tenancy and rules here, so
 * no endpoint can forget them (specification, Authorization).
 */
export class DataClient extends Answers {
  readonly #unit: UnitOfWork;
  /** Whom the rules see. */
  readonly #caller: Caller;
  /** Who stands in the records as having done it. */
  readonly #actor: string;
  readonly #decisions: Decisions;

  constructor(unit: UnitOfWork, caller: Caller, actor: string = actorOf(caller)) {
    super(unit, caller);
    this.#unit = unit;
    this.#caller = caller;
    this.#actor = actor;
    this.#decisions = new Decisions(unit, caller);
  }

  get caller(): Caller {
    return this.#unit.context.caller;
  }

  /**
   * Live rows the caller may see, stably ordered; a hundred when no limit is given. Pending changes of this unit of work are visible.
   * @throws AppError invalid_input for unknown fields or comparisons
   */
  async find<M extends EntityModule>(module: M, query: FindQuery<M> = {}): Promise<RowOf<M>[]> {
    return (await this.#read(module, query)) as RowOf<M>[];
  }

  /** The first matching row, or undefined. */
  async findOne<M extends EntityModule>(module: M, where: FindQuery<M>['where']): Promise<RowOf<M> | undefined> {
    const [row] = await this.#read(module, { where, limit: 1 });
    return row as RowOf<M> | undefined;
  }

  /** A row that stays locked until the end of the transaction, for a change that depends on what it holds. */
  async findLocked<M extends EntityModule>(module: M, id: string): Promise<RowOf<M> | undefined> {
    const [row] = await this.#read(module, { where: { id: { eq: id } }, limit: 1 }, true);
    return row as RowOf<M> | undefined;
  }

  /** @throws AppError not_found, the same for a missing, deleted, foreign or hidden row */
  async get<M extends EntityModule>(module: M, id: string): Promise<RowOf<M>> {
    const row = await this.findOne(module, { id: { eq: id } });
    if (!row) throw missingRecord(module, id);
    return row;
  }

  /**
   * Creates a row. It is written with the next read or at the commit, whichever comes first.
   * @throws AppError invalid_input, permission_denied; not_found for references to what the caller cannot see
   */
  async create<M extends EntityModule>(module: M, input: CreationOf<M>): Promise<RowOf<M>> {
    const [row] = await this.createAll([{ module, input, path: '' }]);
    return row as RowOf<M>;
  }

  /**
   * Creates rows with what hangs on them, all or none: every input is checked before any is written, and problems are named
   * by their paths.
   * @returns the rows themselves, in the order of the creations
   * @throws AppError as `create` does
   */
  async createAll(creations: readonly Creation[]): Promise<Row[]> {
    const { clock, registry } = this.#unit.database.options;
    const made = newRows(creations, { caller: this.#caller, actor: this.#actor, at: clock.now() });
    this.#unit.counters.reserve(made.length, this.caller);
    // A kind without rules: its writes are dropped without a word (specification, Authorization rule 3).
    const kept = made.filter(({ module }) => module.policy);
    const [below, others] = [kept.filter(isDecidedAbove), kept.filter((made) => !isDecidedAbove(made))];
    for (const { module, row } of others) await this.#authorize(module, 'create', row);
    const references = newReferences(kept);
    const deep = references.filter(({ levels = 1 }) => levels > 1);
    for (const { module, field, id } of new Map(deep.map((reference) => [reference.module, reference])).values())
      await lockHierarchies(this.#unit, this.#caller, module, { [field]: id });
    await checkReferences(this.#unit, this.#caller, references);
    if (kept.length > 1) await refuseUniqueConflicts(await this.#unit.readAs(this.#role), kept);
    for (const [level, rows] of Map.groupBy(kept, ({ level }) => level)) {
      // What they hang on has to be there before it is asked.
      for (const { module, row } of below.filter((made) => made.level === level))
        await this.#authorize(module, 'create', row);
      await this.#unit.change(this.#role, () => {
        for (const { module, row } of rows) {
          this.#unit.created.add(row['id'] as string);
          this.#unit.em.create(registry.schemaOf(module).class, row as never, { persist: true });
        }
      });
    }
    return made.filter(({ level }) => level === 0).map(({ row }) => row);
  }

  /**
   * Changes a row the caller may see and edit.
   * @param recordVersion the version the change was made for; whichever there is when left out
   * @throws AppError not_found, permission_denied, invalid_input, stale_record
   */
  async update<M extends EntityModule>(
    module: M,
    id: string,
    changes: ChangesOf<M>,
    recordVersion?: number,
  ): Promise<RowOf<M>> {
    const values = validateChanges(module, changes);
    return (await this.#change({ module, id, operation: 'edit', values, recordVersion })) as RowOf<M>;
  }

  /**
   * Soft-deletes a row.
   * @param recordVersion the version that is meant; whichever there is when left out
   * @throws AppError not_found, permission_denied, stale_record
   */
  async remove(module: EntityModule, id: string, recordVersion?: number): Promise<void> {
    const at = this.#unit.database.options.clock.now();
    const values = { deletedAt: at, deletedBy: this.#actor };
    await this.#change({ module, id, operation: 'remove', values, recordVersion });
    // Others may hang on it that were made here.
    this.#unit.created.clear();
  }

  /**
   * Changes many rows alike, those that the caller may change; a thousand at the most.
   * @throws AppError invalid_input, limit_exceeded; not_found for references to what the caller cannot see
   */
  updateAll(module: EntityModule, ids: readonly string[], changes: Row): Promise<SetResult> {
    return this.#changeSet(module, ids, 'edit', validateChanges(module, changes));
  }

  /** Soft-deletes many rows, those that the caller may delete; a thousand at the most. @throws AppError limit_exceeded */
  removeAll(module: EntityModule, ids: readonly string[]): Promise<SetResult> {
    const at = this.#unit.database.options.clock.now();
    return this.#changeSet(module, ids, 'remove', { deletedAt: at, deletedBy: this.#actor });
  }

  #changeSet(module: EntityModule, ids: readonly string[], operation: 'edit' | 'remove', values: Row) {
    const stamp = { at: this.#unit.database.options.clock.now(), actor: this.#actor };
    return changeSet(this.#unit, { module, ids, operation, values, caller: this.#caller, stamp });
  }

  /**
   * A client that acts for the server itself in the same transaction, for the few actions whose right is decided before
   * the caller has one (sign-up, the first membership of a new organization). The caller stays the actor in history.
   * Every use is listed by a test.
   * @param reason a constant phrase for logs and the policy report
   */
  privileged(reason: string): DataClient {
    return new DataClient(this.#unit, systemCaller(reason), this.#actor);
  }

  /** The client of a caller of this unit of work, for decisions that look at other records. */
  as(caller: Caller): DataClient {
    return caller === this.#caller ? this : new DataClient(this.#unit, caller, this.#actor);
  }

  async #read(module: EntityModule, query: FindQuery<never> | FindQuery<AnyTyped>, forUpdate = false): Promise<Row[]> {
    const session = await this.#unit.readAs(this.#role);
    const { limit = 100, ...rest } = query as FindQuery<AnyTyped>;
    const statement = compileRead(
      module,
      { ...rest, limit, forUpdate } as Parameters<typeof compileRead>[1],
      this.#caller,
    );
    return (await session.query(statement.text, statement.values)).rows;
  }

  /** Reads a row, locked until the end of the transaction, and changes it. */
  #change(change: Change): Promise<Row> {
    this.#unit.counters.reserve(1, this.caller);
    return this.#unit.serialize(() => this.#changeInTurn(change));
  }

  async #changeInTurn(change: Change): Promise<Row> {
    const { module, id, operation, values, recordVersion } = change;
    refuseSwitchedOff(module, this.#caller);
    await lockHierarchies(this.#unit, this.#caller, module, values);
    const [row] = await this.#read(module, { where: { id: { eq: id } }, limit: 1 }, true);
    if (!row) throw missingRecord(module, id);
    const caller = await refreshCaller(this.#unit, this.#caller);
    if (caller !== this.#caller) return this.as(caller).#changeInTurn(change);
    // A kind without rules: its writes are dropped without a word (specification, Authorization rule 3).
    if (!module.policy) return { ...row, ...values };
    await this.#authorize(module, operation, row);
    if (recordVersion !== undefined && recordVersion !== row['recordVersion'])
      throw new AppError(
        'stale_record',
        `The ${module.typeName} is at version ${String(row['recordVersion'])}, not ${recordVersion}; read it again and repeat the change.`,
      );
    const given = differences(row, values);
    // What changes nothing is no change: no version, no history, no event.
    if (Object.keys(given).length === 0) return row;
    const at = this.#unit.database.options.clock.now();
    const whole = operation === 'edit' ? withDerivedValues(module, given, values, { operation: 'update', at }) : given;
    const changes = differences(row, whole);
    if (isMove(module, Object.keys(changes))) await this.#authorize(module, 'remove', row);
    const organizationId = organizationOf(module, row);
    const references = referencesIn(module, changes, { organizationId, from: id, path: '' });
    await checkReferences(this.#unit, this.#caller, references);
    const { registry } = this.#unit.database.options;
    return this.#unit.change(this.#role, () => {
      const entity: Row = this.#unit.em.merge(registry.schemaOf(module).class, row as never, { refresh: true });
      this.#touch(entity, changes);
      return entity;
    });
  }

  get #role(): 'app' | 'system' {
    return databaseRoleOf(this.#caller);
  }

  #touch(entity: Row, values: Row): void {
    const isFirst = !this.#unit.touched.has(entity);
    Object.assign(entity, values, {
      updatedAt: this.#unit.database.options.clock.now(),
      updatedBy: this.#actor,
      ...(isFirst ? { recordVersion: (entity['recordVersion'] as number) + 1 } : {}),
    });
    this.#unit.touched.add(entity);
  }

  async #authorize(module: EntityModule, operation: Exclude<Operation, 'view'>, row: Row): Promise<void> {
    const decision = await this.#decisions.decide(module, operation, row);
    this.#unit.database.options.onDecision?.({ kind: module.kind, operation, caller: this.#caller, decision });
    if (!decision.isAllowed) throw new AppError('permission_denied', deniedMessage(module, operation));
  }
}
