import { isDeepStrictEqual } from 'node:util';
import { actorOf, systemCaller, type Caller } from './caller.ts';
import {
  tenancyField,
  type ChangesOf,
  type CreationOf,
  type EntityModule,
  type RowOf,
  type TypedModule,
  type Tenancy,
} from './define.ts';
import { displayIdOf } from './display-id.ts';
import { AppError } from './errors.ts';
import type { Fields } from './fields.ts';
import { newId } from './ids.ts';
import { validateChanges, validateCreation } from './input.ts';
import { Decisions } from './decision.ts';
import type { Operation } from './policy.ts';
import {
  compilePage,
  compileRecord,
  type PageSelection,
  type RecordSelection,
  type Statement,
} from './read/document.ts';
import { compileRead } from './read/rows.ts';
import type { Comparison } from './read/where.ts';
import type { UnitOfWork } from './unit-of-work.ts';

type Row = Record<string, unknown>;
/** Values by the names they have in the answer. */
export type Answer = Readonly<Record<string, unknown>>;
type AnyTyped = TypedModule<Fields, Tenancy>;

export interface FindQuery<M> {
  readonly where?: { readonly [Name in keyof RowOf<M>]?: Comparison };
  readonly orderBy?: readonly { readonly field: keyof RowOf<M> & string; readonly direction: 'asc' | 'desc' }[];
  /** Rows at the most. */
  readonly limit?: number;
}

/**
 * The only door to data outside this folder. Every read and every change passes the caller's tenancy and rules here, so
 * no endpoint can forget them (specification, Authorization).
 */
export class DataClient {
  readonly #unit: UnitOfWork;
  /** Whom the rules see. */
  readonly #caller: Caller;
  /** Who stands in the records as having done it. */
  readonly #actor: string;
  readonly #decisions: Decisions;

  constructor(unit: UnitOfWork, caller: Caller, actor: string = actorOf(caller)) {
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
    if (!row) throw new AppError('not_found', `There is no ${module.typeName} "${id}".`);
    return row;
  }

  /**
   * A list with everything below it, in one statement, ready to be answered.
   * @throws AppError invalid_cursor, invalid_input, limit_exceeded
   */
  async page(selection: PageSelection): Promise<Answer> {
    return (await this.#answer(compilePage(selection, this.#caller))) as Answer;
  }

  /** One record with everything below it, in one statement, ready to be answered. @throws AppError not_found, limit_exceeded */
  async record(selection: RecordSelection, id: string): Promise<Answer> {
    const answer = await this.#answer(compileRecord(selection, id, this.#caller));
    if (!answer) throw new AppError('not_found', `There is no ${selection.module.typeName} "${id}".`);
    return answer;
  }

  async #answer({ text, values }: Statement): Promise<Answer | undefined> {
    const session = await this.#unit.readAs(this.#role);
    const [row] = (await session.query<{ result: Answer; isTooLarge: boolean }>(text, values)).rows;
    if (row?.isTooLarge) throw new AppError('limit_exceeded', 'The answer would be too large; ask for smaller pages.');
    return row?.result;
  }

  /**
   * Creates a row. It is written with the next read or at the commit, whichever comes first.
   * @throws AppError invalid_input, permission_denied
   */
  async create<M extends EntityModule>(module: M, input: CreationOf<M>): Promise<RowOf<M>> {
    const { clock, registry } = this.#unit.database.options;
    const at = clock.now();
    const values = validateCreation(module, { ...this.#creatorFields(module), ...input });
    const [tenancy] = tenancyField(module.tenancy);
    const id = (values['id'] as string | undefined) ?? newId(at.getTime());
    const row: Row = {
      ...values,
      ...(module.displayId === undefined ? {} : { displayId: displayIdOf(module.displayId, id) }),
      id,
      createdAt: at,
      updatedAt: at,
      createdBy: this.#actor,
      updatedBy: this.#actor,
      recordVersion: 1,
      deletedAt: null,
      deletedBy: null,
    };
    if (tenancy) row[tenancy] ??= tenancy === 'organizationId' ? this.#caller.organizationId : this.#caller.subjectId;
    if (tenancy && row[tenancy] == null)
      throw new AppError('permission_denied', `Choose an organization before creating a ${module.typeName}.`);
    // A kind without rules: its writes are dropped without a word (specification, Authorization rule 3).
    if (!module.policy) return row as RowOf<M>;
    await this.#authorize(module, 'create', row);
    return this.#unit.change(
      this.#role,
      () => this.#unit.em.create(registry.schemaOf(module).class, row as never, { persist: true }) as RowOf<M>,
    );
  }

  /** Fields that mean the person who creates the record, when the creation names nobody. */
  #creatorFields(module: EntityModule): Row {
    if (this.#caller.kind !== 'user') return {};
    const names = Object.entries(module.fields).flatMap(([name, { creator }]) => (creator ? [name] : []));
    return Object.fromEntries(names.map((name) => [name, this.#caller.subjectId]));
  }

  /**
   * Changes a row the caller may see and edit.
   * @throws AppError not_found, permission_denied, invalid_input; stale_record from the flush
   */
  async update<M extends EntityModule>(module: M, id: string, changes: ChangesOf<M>): Promise<RowOf<M>> {
    const values = validateChanges(module, changes);
    return (await this.#change(module, id, 'edit', values)) as RowOf<M>;
  }

  /** Soft-deletes a row. @throws AppError not_found, permission_denied */
  async remove(module: EntityModule, id: string): Promise<void> {
    const at = this.#unit.database.options.clock.now();
    await this.#change(module, id, 'remove', { deletedAt: at, deletedBy: this.#actor });
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
  #change(module: EntityModule, id: string, operation: 'edit' | 'remove', values: Row): Promise<Row> {
    return this.#unit.inTurn(async () => {
      const [row] = await this.#read(module, { where: { id: { eq: id } }, limit: 1 }, true);
      if (!row) throw new AppError('not_found', `There is no ${module.typeName} "${id}".`);
      // A kind without rules: its writes are dropped without a word (specification, Authorization rule 3).
      if (!module.policy) return { ...row, ...values };
      await this.#authorize(module, operation, row);
      // What changes nothing is no change: no version, no history, no event.
      if (Object.entries(values).every(([name, value]) => isDeepStrictEqual(row[name], value))) return row;
      const { registry } = this.#unit.database.options;
      return this.#unit.change(this.#role, () => {
        const entity: Row = this.#unit.em.merge(registry.schemaOf(module).class, row as never, { refresh: true });
        this.#touch(entity, values);
        return entity;
      });
    });
  }

  get #role(): 'app' | 'system' {
    return this.#caller.kind === 'system' ? 'system' : 'app';
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
    if (!decision.isAllowed)
      throw new AppError('permission_denied', `You may not ${operation} this ${module.typeName}.`);
  }
}
