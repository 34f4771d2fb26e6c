import { sql } from 'kysely';
import type { ErrorCode } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import { shortened } from '../base/shortened.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { changeOf, differences } from '../model/recorded-changes.ts';
import { lockOf, wholeRow } from '../read/rows.ts';
import { scopePredicate } from '../read/scope.ts';
import { Viewer } from '../read/viewer.ts';
import { permitted, visible } from '../read/visibility.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { checkRowCount } from './change-counters.ts';
import { refuseFileForMany } from './claim-files.ts';
import type { ChangeWork } from './change-work.ts';
import {
  planChanges,
  type ChangePlan,
  type ChangeRequest,
  type AuthorizedRow,
  type PlannedChange,
  type RowAccess,
} from './plan-changes.ts';
import { isMove } from './references.ts';
import { refuseSecretForMany } from './sealed-values.ts';
import { updateEachRow, updateRows } from './update-rows.ts';

type Row = Record<string, unknown>;

export interface Refusal {
  readonly id: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface SetResult {
  /** Ids in the order in which they were given, without those of records whose deletion is held. */
  readonly changed: readonly string[];
  readonly refused: readonly Refusal[];
}

/**
 * Changes records without reading them into the ORM: one statement locks all records, one reads them and the caller's rights, one
 * changes those that the caller may change, one records history, events and tuples. The result names the records that were not changed.
 * @throws AppError limit_exceeded; not_found, permission_denied for references that the caller may not set
 */
export async function changeSet(
  work: ChangeWork,
  request: Omit<ChangeRequest, 'recordVersion' | 'valuesOf'>,
): Promise<SetResult> {
  // Rows whose changes concern the same fields, and of which the same are held, are changed in one statement.
  return changeRecords(work, request, (plan) =>
    [
      ...Map.groupBy(plan.changes, ({ row, values }) =>
        [Object.keys(differences(row, values)), Object.keys(values)].join(';'),
      ).values(),
    ].map((changes) => ({
      changes,
      update: (session: RoleSession) => {
        const which = sql`${column('row', 'id')} = any(${changes.map(({ row }) => row['id'])})`;
        return updateRows(session, request.module, { values: changes[0]?.values ?? {}, which, stamp: request.stamp });
      },
    })),
  );
}

/**
 * Changes records like `changeSet`, each to values of its own.
 * @param values validated values by field, by the id of the record
 * @throws AppError, see `changeSet`
 */
export function changeEach(
  work: ChangeWork,
  {
    values,
    ...request
  }: Pick<ChangeRequest, 'module' | 'caller' | 'stamp'> & { readonly values: ReadonlyMap<string, Readonly<Row>> },
): Promise<SetResult> {
  const { module, stamp } = request;
  const all: Row = Object.assign({}, ...values.values());
  return changeRecords(
    work,
    { ...request, operation: 'edit', ids: [...values.keys()], values: all, valuesOf: values },
    ({ changes }) =>
      changes.length === 0
        ? []
        : [{ changes, update: (session) => updateEachRow(session, module, { changes, stamp }) }],
  );
}

/** Rows that one statement changes. */
interface RowsToWrite {
  readonly changes: readonly PlannedChange[];
  readonly update: (session: RoleSession) => Promise<readonly Readonly<Row>[]>;
}

async function changeRecords(
  work: ChangeWork,
  request: Omit<ChangeRequest, 'recordVersion'>,
  statementsOf: (plan: ChangePlan) => readonly RowsToWrite[],
): Promise<SetResult> {
  const ids = [...new Set(request.ids)];
  checkRowCount(ids.length, '/ids');
  refuseFileForMany(request.module, request.values);
  refuseSecretForMany(request.module, request.values);
  work.counters.reserve(ids.length, work.context.caller);
  return work.serialize(async () => {
    const plan = await planChanges(work, { ...request, ids }, new LockedSet(work, { ...request, ids }));
    if (request.operation === 'remove' && plan.changes.length > 0) work.created.clear();
    for (const rows of statementsOf(plan)) await write(work, { ...request, caller: plan.caller }, rows);
    return {
      changed: ids.filter((id) => !plan.refusals.has(id) && !(request.operation === 'remove' && work.held.has(id))),
      refused: ids.flatMap((id) => {
        const refusal = plan.refusals.get(id);
        return refusal ? [{ id: shortened(id), code: refusal.code, message: refusal.message }] : [];
      }),
    };
  });
}

/** Locks all rows in one statement, and reads them with the caller's rights in another. */
class LockedSet implements RowAccess {
  readonly #work: ChangeWork;
  readonly #request: ChangeRequest;
  #locked: readonly string[] = [];

  constructor(work: ChangeWork, request: ChangeRequest) {
    this.#work = work;
    this.#request = request;
  }

  /** Locks in the order of the ids, so that concurrent changes cannot deadlock. Malformed ids match no record. */
  async lock(): Promise<void> {
    const { module, ids, caller, operation } = this.#request;
    const session = await this.#work.readAs(databaseRoleOf(caller));
    const viewer = Viewer.of(this.#work.registry, caller);
    const { text, values } = compileSql(sql`select ${column('row', 'id')} from ${sql.table(module.table)} as row
      where ${column('row', 'id')} = any(${ids.filter(isId)}) and ${scopePredicate(module, 'row', viewer)}
      order by ${column('row', 'id')} ${lockOf(operation)}`);
    this.#locked = (await session.query<{ id: string }>(text, values)).rows.map(({ id }) => id);
  }

  /**
   * Reads in a statement of its own: a statement that waited for a lock has the new version of the locked row, but shares and
   * memberships of before the wait.
   */
  async read(caller: Caller): Promise<ReadonlyMap<string, AuthorizedRow>> {
    if (this.#locked.length === 0) return new Map();
    const { module, operation, values: given } = this.#request;
    const { registry, options } = this.#work;
    const viewer = Viewer.of(registry, caller);
    const session = await this.#work.readAs(databaseRoleOf(caller));
    const isRemovable = isMove(module, Object.keys(given)) ? permitted(module, 'row', viewer, 'remove') : sql`true`;
    const isPermittedByRules = permitted(module, 'row', viewer, operation);
    const { text, values } = compileSql(sql`select ${wholeRow(module)},
      (${isPermittedByRules} and ${unrestricted(module, operation, viewer)}) is true as "#isPermitted", (${isRemovable}) is true as "#isRemovable"
      from ${sql.table(module.table)} as row
      where ${column('row', 'id')} = any(${this.#locked}) and ${visible(module, 'row', viewer)}`);
    const { rows } = await session.query<Record<string, unknown>>(text, values);
    return new Map(
      rows.map(({ '#isPermitted': isPermitted, '#isRemovable': removable, ...row }) => [
        row['id'] as string,
        {
          row,
          may(asked) {
            const isAllowed = (asked === operation ? isPermitted : removable) === true;
            const decision = { isAllowed, by: 'rows', rule: undefined } as const;
            options.onDecision?.({ kind: module.kind, operation: asked, caller, decision });
            return isAllowed;
          },
        },
      ]),
    );
  }
}

/** Predicate for rows without the value that needs a further right, and for those on whose parent record the caller has it. */
function unrestricted(module: EntityModule, operation: 'edit' | 'remove', viewer: Viewer): Sql {
  const { restricted } = module;
  if (!restricted || operation !== 'remove' || viewer.kind === 'system') return sql`true`;
  const target = viewer.targetOf(module, restricted.on);
  return sql`(${column('row', restricted.field)} <> ${restricted.is} or exists (
    select 1 from ${sql.table(target.table)} as above where ${column('above', 'id')} = ${column('row', restricted.on)}
      and ${visible(target, 'above', viewer)} and ${permitted(target, 'above', viewer, restricted.requires)}))`;
}

async function write(
  work: ChangeWork,
  { module, operation, caller }: Omit<ChangeRequest, 'recordVersion'>,
  { changes, update }: RowsToWrite,
): Promise<void> {
  const planned = new Map(changes.map((change) => [change.row['id'], change]));
  await work.changeRows(databaseRoleOf(caller), module, async (session) =>
    (await update(session)).map((after) => {
      const { row, values } = planned.get(after['id']) as PlannedChange;
      return changeOf(module, row, after, operation === 'edit' ? Object.keys(differences(row, values)) : []);
    }),
  );
}
