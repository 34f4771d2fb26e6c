import { sql } from 'kysely';
import { refreshCaller } from '../access/principal-state.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import { differences, organizationOf, type RecordedChange } from '../model/changes.ts';
import type { EntityModule } from '../model/define.ts';
import { deniedMessage } from '../model/denied-message.ts';
import type { ErrorCode } from '../base/errors.ts';
import { withDerivedValues } from '../model/hooks.ts';
import { isId } from '../base/ids.ts';
import { missingRecord, shortened } from '../model/missing-record.ts';
import { refuseSwitchedOff } from '../model/product-modules.ts';
import { column } from '../storage/column.ts';
import { scopePredicate } from '../read/scope.ts';
import { wholeRow } from '../read/rows.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import { permitted, visible } from '../read/visibility.ts';
import { isMove, lockHierarchies, openProblems, referencesIn, refuseReferences } from './references.ts';
import { snakeCase } from '../base/snake-case.ts';
import { checkRowCount } from './change-counters.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { UnitOfWork } from '../unit/unit-of-work.ts';

type Row = Readonly<Record<string, unknown>>;

/** Who changes rows, and when. */
export interface Stamp {
  readonly at: Date;
  readonly actor: string;
}

/** A record that was left as it is. */
export interface Refusal {
  readonly id: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface SetResult {
  /** In the order in which they were given. */
  readonly changed: readonly string[];
  readonly refused: readonly Refusal[];
}

export interface SetChange {
  readonly module: EntityModule;
  readonly ids: readonly string[];
  readonly operation: 'edit' | 'remove';
  readonly values: Row;
  readonly caller: Caller;
  readonly stamp: Stamp;
}

/**
 * Changes records without reading them into the unit of work: one statement locks all of them, one judges them as they are
 * then, one changes those that may be changed, one writes their history, events and tuples. What may not be changed is told
 * and left as it is.
 * @throws AppError limit_exceeded; not_found, permission_denied for references that none of them may have
 */
export async function changeSet(unit: UnitOfWork, asked: SetChange): Promise<SetResult> {
  const ids = [...new Set(asked.ids)];
  checkRowCount(ids.length, '/ids');
  unit.counters.reserve(ids.length, unit.context.caller);
  return unit.serialize(async () => {
    refuseSwitchedOff(asked.module, asked.caller);
    await lockHierarchies(unit, asked.caller, asked.module, asked.values);
    const locked = await lock(unit, asked, ids);
    const change = { ...asked, caller: await refreshCaller(unit, asked.caller) };
    const found = await judge(unit, change, locked);
    const refused = new Map(ids.flatMap((id) => refusalOf(id, found.get(id), change)));
    // A kind without rules: its writes are dropped without a word (specification, Authorization rule 3).
    const open = change.module.policy ? [...found.values()].filter(({ row }) => !refused.has(row['id'] as string)) : [];
    // What changes nothing is no change: no version, no history, no event.
    const differing = open.map(({ row }) => row).filter((row) => changedNames(row, change.values).length > 0);
    for (const refusal of await misplaced(unit, change, differing)) refused.set(refusal.id, refusal);
    const rows = differing.filter((row) => !refused.has(row['id'] as string));
    for (const alike of Map.groupBy(rows, (row) => changedNames(row, change.values).join()).values())
      await write(unit, withHook(change, alike[0] as Row), alike);
    return {
      changed: ids.filter((id) => !refused.has(id)),
      refused: ids.flatMap((id) => refused.get(id) ?? []),
    };
  });
}

interface FoundRow {
  readonly row: Row;
  readonly isPermitted: boolean;
  /** Whether the record may also be deleted, where the change asks for that. */
  readonly isRemovable: boolean;
}

/** In the order of their ids, so that two such changes never wait for each other in a circle. What is no id is the id of nothing. */
async function lock(unit: UnitOfWork, { module, caller }: SetChange, ids: readonly string[]): Promise<string[]> {
  const session = await unit.readAs(databaseRoleOf(caller));
  const { text, values } = compileSql(sql`select ${column('row', 'id')} from ${sql.table(module.table)} as row
    where ${column('row', 'id')} = any(${ids.filter(isId)}) and ${scopePredicate(module, 'row', caller)}
    order by ${column('row', 'id')} for update of row`);
  return (await session.query<{ id: string }>(text, values)).rows.map(({ id }) => id);
}

/**
 * Judges locked records by a statement of its own: one that waited for a lock reads the locked row again, but what its conditions
 * look up, shares and memberships, as it was before the wait.
 */
async function judge(
  unit: UnitOfWork,
  { module, operation, values: given, caller }: SetChange,
  locked: readonly string[],
): Promise<Map<string, FoundRow>> {
  if (locked.length === 0) return new Map();
  const session = await unit.readAs(databaseRoleOf(caller));
  const isRemovable = isMove(module, Object.keys(given)) ? permitted(module, 'row', caller, 'remove') : sql`true`;
  const { text, values } = compileSql(sql`select ${wholeRow(module, 'row')},
    (${permitted(module, 'row', caller, operation)}) is true as "#isPermitted", (${isRemovable}) is true as "#isRemovable"
    from ${sql.table(module.table)} as row
    where ${column('row', 'id')} = any(${locked}) and ${visible(module, 'row', caller)}`);
  const { rows } = await session.query<Record<string, unknown>>(text, values);
  return new Map(
    rows.map(({ '#isPermitted': isPermitted, '#isRemovable': isRemovable, ...row }) => {
      const told = (asked: 'edit' | 'remove', isAllowed: boolean): boolean => {
        const decision = { isAllowed, by: 'rows', rule: undefined } as const;
        unit.database.options.onDecision?.({ kind: module.kind, operation: asked, caller, decision });
        return isAllowed;
      };
      const isMoved = isPermitted === true && isMove(module, changedNames(row, given));
      return [
        row['id'] as string,
        {
          row,
          isPermitted: told(operation, isPermitted === true),
          isRemovable: !isMoved || told('remove', isRemovable === true),
        },
      ];
    }),
  );
}

function refusalOf(id: string, found: FoundRow | undefined, { module, operation }: SetChange): [string, Refusal][] {
  const say = (code: ErrorCode, message: string): [string, Refusal][] => [[id, { id, code, message }]];
  if (!found) {
    const { code, message } = missingRecord(module, id);
    return [[id, { id: shortened(id), code, message }]];
  }
  if (!module.policy || (found.isPermitted && found.isRemovable)) return [];
  return say('permission_denied', deniedMessage(module, found.isPermitted ? 'remove' : operation));
}

/** References that nobody may have are refused for all; a place in a hierarchy may be wrong for one and right for another. */
async function misplaced(unit: UnitOfWork, change: SetChange, rows: readonly Row[]): Promise<Refusal[]> {
  const { module, values, caller } = change;
  const given = rows.flatMap((row) => {
    const about = { organizationId: organizationOf(module, row), from: row['id'] as string, path: '' };
    return referencesIn(module, differences(row, values), about);
  });
  const problems = await openProblems(unit, caller, given);
  const ofOne = problems.filter(({ code }) => code === 'invalid_input');
  refuseReferences(problems.filter((problem) => !ofOne.includes(problem)));
  return ofOne.map(({ reference, code, message }) => ({ id: reference.from as string, code, message }));
}

/** The change with what the kind writes along with it. @param row of those in which the same fields change */
function withHook(change: SetChange, row: Row): SetChange {
  const { module, operation, values, stamp } = change;
  if (operation === 'remove') return change;
  const writing = { operation: 'update', at: stamp.at } as const;
  return { ...change, values: withDerivedValues(module, differences(row, values), values, writing) };
}

async function write(unit: UnitOfWork, change: SetChange, rows: readonly Row[]): Promise<void> {
  const { module, operation, values, caller, stamp } = change;
  const before = new Map(rows.map((row) => [row['id'], row]));
  if (operation === 'remove') unit.created.clear();
  await unit.changeRows(databaseRoleOf(caller), module, async (session) => {
    const which = sql`${column('row', 'id')} = any(${[...before.keys()]})`;
    const after = await updateRows(session, module, { values, which, stamp });
    return after.map((row): RecordedChange => {
      const old = before.get(row['id']) as Row;
      return {
        module,
        operation: operation === 'edit' ? 'updated' : 'deleted',
        id: row['id'] as string,
        recordVersion: row['recordVersion'] as number,
        organizationId: organizationOf(module, row),
        changedFields: operation === 'edit' ? changedNames(old, values) : [],
        before: old,
        after: row,
      };
    });
  });
}

function changedNames(row: Row, values: Row): string[] {
  return Object.keys(differences(row, values));
}

/** Column types of what the machine itself sets in a deletion. */
const deletionTypes: Readonly<Record<string, string>> = { deletedAt: 'timestamptz', deletedBy: 'text' };

/**
 * One `update … returning` of whole rows, each a version further.
 * @param which condition on the rows, which it calls `row`
 */
export async function updateRows(
  session: RoleSession,
  module: EntityModule,
  { values, which, stamp }: { readonly values: Row; readonly which: Sql; readonly stamp: Stamp },
): Promise<Row[]> {
  const set = Object.entries({ ...values, updatedBy: stamp.actor, updatedAt: stamp.at }).map(([name, value]) => {
    const type = module.fields[name]?.columnType ?? deletionTypes[name];
    const bound = type === 'jsonb' && value !== null ? JSON.stringify(value) : value;
    return sql`${sql.id(snakeCase(name))} = ${bound}${type === undefined ? sql`` : sql`::${sql.raw(type)}`}`;
  });
  const { text, values: bound } = compileSql(sql`update ${sql.table(module.table)} as row
    set ${sql.join(set)}, record_version = record_version + 1 where ${which} returning ${wholeRow(module, 'row')}`);
  return (await session.query<Record<string, unknown>>(text, bound)).rows;
}
