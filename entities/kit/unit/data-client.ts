import { Decisions, type Decision } from '../access/decision.ts';
import { AppError, type FieldProblem } from '../base/errors.ts';
import { actorOf, databaseRoleOf, systemCaller, type Caller } from '../model/caller.ts';
import type { ChangesOf, CreationOf, EntityModule, RowOf, TypedModule, Tenancy } from '../model/define.ts';
import { deniedMessage } from '../model/denied-message.ts';
import type { Fields } from '../model/declared-field.ts';
import { validateChanges } from '../model/input.ts';
import type { EventDraft } from '../model/event-draft.ts';
import type { LinkChange } from '../model/links.ts';
import { missingRecord } from '../model/missing-record.ts';
import type { Operation } from '../model/policy.ts';
import type { Comparison } from '../read/filter.ts';
import { compileRows } from '../read/rows.ts';
import type { LockedOperation, RowsSelection } from '../read/selection.ts';
import { compileViewedByEach, type Viewing } from '../read/viewed-by-each.ts';
import { changeRecord } from '../write/change-record.ts';
import { changeEach, changeSet, type SetResult } from '../write/change-set.ts';
import type { ExpectedVersion } from '../write/plan-changes.ts';
import { createEach, type CreatedEach } from '../write/create-each.ts';
import { createRows } from '../write/create-rows.ts';
import { createRecords } from '../write/create-records.ts';
import type { ChangeWork } from '../write/change-work.ts';
import type { HeldField } from '../write/held-changes.ts';
import { lockInOrder, type LockTarget } from '../write/lock-order.ts';
import { newRows, type Creation } from '../write/creations.ts';
import { checkReferences, type GivenReference } from '../write/references.ts';
import { Answers } from './answers.ts';
import { changeLinks } from './change-links.ts';
import { createOnce } from './create-once.ts';
import { LockedRow, type RowReader } from './locked-row.ts';
import type { AnswerWork } from './answer-work.ts';

// Long because it has every way to records, each with what it throws.

type Row = Record<string, unknown>;
type AnyTyped = TypedModule<Fields, Tenancy>;

interface FindQuery<M> {
  /** Kinds with unique names have `nameForm` (base/name-form.ts). */
  readonly where?: { readonly [Name in keyof RowOf<M> | 'nameForm']?: Comparison };
  readonly orderBy?: readonly { readonly field: keyof RowOf<M> & string; readonly direction: 'asc' | 'desc' }[];
  /** Maximum number of rows. Without one, code would work on the first rows as if they were all. */
  readonly limit: number;
}

/**
 * Reads and changes records on behalf of a caller. Code outside the kit has no other access to records, so every read and every change
 * is subject to the caller's tenancy and rules.
 */
export class DataClient {
  /** Reads of nested records as JSON. */
  readonly answers: Answers;
  readonly #work: AnswerWork & ChangeWork;
  /** The caller whose rights apply. */
  readonly #caller: Caller;
  /** The actor that history and events name. */
  readonly #actor: string;
  readonly #decisions: Decisions;

  constructor(work: AnswerWork & ChangeWork, caller: Caller, actor: string = actorOf(caller)) {
    this.answers = new Answers(work, caller);
    this.#work = work;
    this.#caller = caller;
    this.#actor = actor;
    this.#decisions = new Decisions(
      {
        work,
        authorizer: work.options.authorizer,
        findVisible: (module, id) => this.findOne(module, { id: { eq: id } }),
      },
      caller,
    );
  }

  /** The caller of the unit of work. */
  get caller(): Caller {
    return this.#work.context.caller;
  }

  /**
   * Live rows that the caller may view, in a stable order. Buffered changes of this unit of work are visible.
   * @throws AppError invalid_input for unknown fields or comparisons; TypeError without a limit
   */
  async find<M extends EntityModule>(module: M, query: FindQuery<M>): Promise<RowOf<M>[]> {
    if (!Number.isSafeInteger((query as Partial<FindQuery<M>> | undefined)?.limit))
      throw new TypeError(`find of ${module.kind} records needs a limit: the maximum number of rows`);
    return (await this.#read(module, query)) as RowOf<M>[];
  }

  async findOne<M extends EntityModule>(module: M, where: FindQuery<M>['where']): Promise<RowOf<M> | undefined> {
    const [row] = await this.#read(module, { where, limit: 1 });
    return row as RowOf<M> | undefined;
  }

  /**
   * A row that stays locked until the end of the transaction, for a change that depends on its values.
   * @param operation `remove` waits for those who refer to the row in transactions that have not ended, and keeps others from it
   */
  async findLocked<M extends EntityModule>(
    module: M,
    id: string,
    operation: LockedOperation = 'edit',
  ): Promise<RowOf<M> | undefined> {
    return (await this.#readLocked(module, id, operation)) as RowOf<M> | undefined;
  }

  /**
   * Which of the records each of many callers may view, in few statements however many they are.
   * @returns for each viewing, in their order, the ids of those that its caller may view
   */
  async viewedByEach(module: EntityModule, viewings: readonly Viewing[]): Promise<ReadonlySet<string>[]> {
    const viewed = viewings.map(() => new Set<string>());
    for (const { text, values } of compileViewedByEach(module, viewings, this.#work.registry)) {
      const session = await this.#work.readAs('app');
      const { rows } = await session.query<{ readonly n: number; readonly id: string }>(text, values);
      for (const { n, id } of rows) viewed[n]?.add(id);
    }
    return viewed;
  }

  /** @throws AppError not_found, the same error for a missing, deleted or hidden row and for one of another organization */
  async get<M extends EntityModule>(module: M, id: string): Promise<RowOf<M>> {
    const row = await this.findOne(module, { id: { eq: id } });
    if (!row) throw missingRecord(module, id);
    return row;
  }

  /**
   * Creates a row. It is written before the next read or at the commit, whichever comes first.
   * @throws AppError invalid_input, permission_denied; not_found for references to records that the caller cannot view
   */
  async create<M extends EntityModule>(module: M, input: CreationOf<M>): Promise<RowOf<M>> {
    const [row] = await this.createAll([{ module, input, path: '' }]);
    return row as RowOf<M>;
  }

  /**
   * Creates records with their children, all or none.
   * @param known problems of values that the creations leave out for that reason; they are reported together with all others
   * @throws AppError, see `createRecords`
   */
  createAll(creations: readonly Creation[], known: readonly FieldProblem[] = []): Promise<Row[]> {
    return createRecords(this.#work, creations, this.#creator(known), (module, row) =>
      this.#authorize(module, 'create', row),
    );
  }

  /**
   * Creates the records of all inputs that are not refused.
   * @param check what is checked before anything is written, besides what the data layer checks
   * @throws AppError of which no single input is the reason
   */
  createEach(
    creations: readonly Creation[],
    check: (creations: readonly Creation[]) => Promise<void>,
  ): Promise<CreatedEach> {
    const { at } = this.#requestedBy.stamp;
    const creator = { caller: this.#caller, actor: this.#actor, at, known: [] };
    const checkOne = (creation: Creation) => void newRows([creation], creator);
    return createEach(this.#work, creations, checkOne, async (left) => {
      await check(left);
      return this.createAll(left);
    });
  }

  /** Creates records of the server in one statement. @returns their ids @throws AppError, TypeError, see `createRows` */
  createRows(module: EntityModule, rows: readonly Row[]): Promise<string[]> {
    return createRows(this.#work, this.#caller, module, rows);
  }

  /**
   * Creates a record with an event, unless a unique key of its kind is taken; one statement writes both or neither.
   * @returns the row; undefined when there is one already
   * @throws AppError, see `createOnce`
   */
  async createOnce<M extends EntityModule>(
    module: M,
    input: CreationOf<M>,
    eventOf: (row: RowOf<M>) => EventDraft,
  ): Promise<RowOf<M> | undefined> {
    const row = await createOnce(
      this.#work,
      { module, input, path: '' },
      this.#creator([]),
      (kind, values) => this.#authorize(kind, 'create', values),
      (values) => eventOf(values as RowOf<M>),
    );
    return row as RowOf<M> | undefined;
  }

  #creator(known: readonly FieldProblem[]) {
    return { caller: this.#caller, actor: this.#actor, at: this.#work.clock.now(), known };
  }

  /**
   * Changes a row that the caller may view and edit.
   * @param recordVersion the version on which the change is based, or several; any version when left out
   * @throws AppError not_found, permission_denied, invalid_input, stale_record
   */
  async update<M extends EntityModule>(
    module: M,
    id: string,
    changes: ChangesOf<M>,
    recordVersion?: ExpectedVersion,
  ): Promise<RowOf<M>> {
    const values = validateChanges(module, changes);
    return (await this.#change({ module, id, operation: 'edit', values, recordVersion })) as RowOf<M>;
  }

  /**
   * Soft-deletes a row.
   * @param recordVersion the version to delete, or several; any version when left out
   * @throws AppError not_found, permission_denied, stale_record
   */
  async remove(module: EntityModule, id: string, recordVersion?: ExpectedVersion): Promise<void> {
    await this.#change({ module, id, operation: 'remove', values: this.#deletion, recordVersion });
    // The deletion also deletes dependents, which this unit of work may have created.
    this.#work.created.clear();
  }

  /**
   * Makes the same change to up to a thousand rows, except those that the caller may not change.
   * @throws AppError invalid_input, limit_exceeded; not_found for references to records that the caller cannot view
   */
  updateAll(module: EntityModule, ids: readonly string[], changes: Row): Promise<SetResult> {
    const values = validateChanges(module, changes);
    return changeSet(this.#work, { module, ids, operation: 'edit', values, ...this.#requestedBy });
  }

  /**
   * Changes up to a thousand rows, each to values of its own, in one statement, except those that the caller may not change.
   * @throws AppError, see `updateAll`; TypeError for a row that is named twice
   */
  updateEach<M extends EntityModule>(
    module: M,
    changes: readonly { readonly id: string; readonly values: ChangesOf<M> }[],
  ): Promise<SetResult> {
    const values = new Map(changes.map(({ id, values: given }) => [id, validateChanges(module, given)]));
    if (values.size < changes.length) throw new TypeError(`a ${module.kind} is named twice in one change`);
    return changeEach(this.#work, { module, values, ...this.#requestedBy });
  }

  /**
   * Changes a row like `update`, and links it with others or ends links (model/derived/join.ts). Of a row without other changes, the right to edit
   * it is checked all the same.
   * @throws AppError, see `update`; not_found for records to link that the caller cannot view
   */
  async updateLinked<M extends EntityModule>(
    module: M,
    id: string,
    changes: ChangesOf<M>,
    links: readonly LinkChange[],
    recordVersion?: ExpectedVersion,
  ): Promise<void> {
    await this.update(module, id, changes, recordVersion);
    await changeLinks(this, [id], links);
  }

  /** The same for up to a thousand rows (`updateAll`); those that the caller may not change keep their links. */
  async updateAllLinked(
    module: EntityModule,
    ids: readonly string[],
    changes: Row,
    links: readonly LinkChange[],
  ): Promise<SetResult> {
    const result = await this.updateAll(module, ids, changes);
    await changeLinks(this, result.changed, links);
    return result;
  }

  /** Fields that the last change of each of these rows in this unit of work did not write, because a behaviour of their kind holds them. */
  heldOf(ids: readonly string[]): (HeldField & { readonly id: string })[] {
    return ids.flatMap((id) => (this.#work.held.get(id)?.fields ?? []).map((held) => ({ id, ...held })));
  }

  /** Whether the last change of a row in this unit of work, or its deletion, is held as a whole: nothing of it was written. */
  isHeld(id: string): boolean {
    return this.#work.held.get(id)?.isWhole ?? false;
  }

  /** Soft-deletes up to a thousand rows, except those that the caller may not delete. @throws AppError limit_exceeded */
  removeAll(module: EntityModule, ids: readonly string[]): Promise<SetResult> {
    return changeSet(this.#work, { module, ids, operation: 'remove', values: this.#deletion, ...this.#requestedBy });
  }

  /**
   * Locks records before several changes of them, so that concurrent operations cannot deadlock. For operations that know which
   * records they will change; each change then finds its records locked.
   */
  lockAll(targets: readonly LockTarget[]): Promise<void> {
    return this.#work.serialize(() => lockInOrder(this.#work, this.#caller, targets));
  }

  get #deletion(): Row {
    return { deletedAt: this.#work.clock.now(), deletedBy: this.#actor };
  }

  get #requestedBy() {
    return { caller: this.#caller, stamp: { at: this.#work.clock.now(), actor: this.#actor } };
  }

  /**
   * A client with the rights of the server in the same transaction, for the few actions for which no rule can give the caller the
   * right (sign-up, the first membership of a new organization). History still names the caller as actor. A test lists every use.
   * @param reason a constant phrase for logs and the policy report
   */
  privileged(reason: string): DataClient {
    return new DataClient(this.#work, systemCaller(reason), this.#actor);
  }

  /** A client with the rights of another caller in this unit of work. */
  as(caller: Caller): DataClient {
    return caller === this.#caller ? this : new DataClient(this.#work, caller, this.#actor);
  }

  /**
   * Checks references of records that the server creates for the caller: those that it sets itself are not checked.
   * @throws AppError not_found, permission_denied, invalid_input
   */
  checkTargets(given: readonly GivenReference[]): Promise<void> {
    return this.#work.serialize(() => checkReferences(this.#work, this.#caller, given));
  }

  /** Decides whether the caller may perform an operation on a row. @throws AppError authorization_unavailable */
  decide(module: EntityModule, operation: Operation, row: Row): Promise<Decision> {
    return this.#decisions.decide(module, operation, row);
  }

  async #readLocked(module: EntityModule, id: string, operation: LockedOperation): Promise<Row | undefined> {
    const [row] = await this.#read(module, { where: { id: { eq: id } }, limit: 1 }, operation);
    return row;
  }

  async #read(
    module: EntityModule,
    query: FindQuery<never> | FindQuery<AnyTyped>,
    lockFor?: LockedOperation,
  ): Promise<Row[]> {
    const session = await this.#work.readAs(databaseRoleOf(this.#caller));
    const { text, values } = compileRows(
      module,
      { ...query, lockFor } as RowsSelection,
      this.#caller,
      this.#work.plans,
    );
    return (await session.query(text, values)).rows;
  }

  #change(
    change: Pick<Parameters<typeof changeRecord>[1], 'module' | 'id' | 'operation' | 'values' | 'recordVersion'>,
  ): Promise<Row> {
    const access = new LockedRow({ ...change, caller: this.#caller }, (caller) => this.as(caller).#reader);
    return changeRecord(this.#work, { ...change, ...this.#requestedBy }, access);
  }

  get #reader(): RowReader {
    return {
      readLocked: (module, id, operation) => this.#readLocked(module, id, operation),
      may: async (module, operation, row) => (await this.#decideAndReport(module, operation, row)).isAllowed,
    };
  }

  async #authorize(module: EntityModule, operation: 'create', row: Row): Promise<void> {
    const { isAllowed } = await this.#decideAndReport(module, operation, row);
    if (!isAllowed)
      throw new AppError('permission_denied', deniedMessage(module, { operation, caller: this.#caller, row }));
  }

  async #decideAndReport(module: EntityModule, operation: Exclude<Operation, 'view'>, row: Row): Promise<Decision> {
    const decision = await this.decide(module, operation, row);
    this.#work.options.onDecision?.({ kind: module.kind, operation, caller: this.#caller, decision });
    return decision;
  }
}
