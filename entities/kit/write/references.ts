import { sql } from 'kysely';
import { compareText } from '../base/compare-text.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { AppError, maxProblems, type ErrorCode } from '../base/errors.ts';
import type { Field } from '../model/declared-field.ts';
import { elsewhereHint } from '../model/current-organization.ts';
import { deniedMessage } from '../model/denied-message.ts';
import { missingRecord } from '../model/missing-record.ts';
import { maxHierarchyDepth } from '../model/hierarchy.ts';
import { rowPath } from '../base/row-path.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import { Viewer } from '../read/viewer.ts';
import { permitted, visible } from '../read/visibility.ts';
import type { Registry } from '../model/registry.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeWork } from './change-work.ts';

export interface GivenReference {
  /** The kind of the referring record, and its reference field. */
  readonly module: EntityModule;
  readonly field: string;
  /** Id of the target record. */
  readonly id: string;
  /** Organization of the referring record; null for kinds without organization. */
  readonly organizationId: string | null;
  /** Id of the referring record, if it exists already. */
  readonly from?: string;
  /** Number of levels of new records, from the referring record down; default 1. */
  readonly levels?: number;
  /** JSON pointer of the reference in the input. */
  readonly path: string;
}

export interface ReferenceProblem {
  readonly reference: GivenReference;
  readonly code: ErrorCode;
  readonly message: string;
}

/** The references in the values of a kind, without null ones. */
export function referencesIn(
  module: EntityModule,
  values: Readonly<Record<string, unknown>>,
  about: Pick<GivenReference, 'organizationId' | 'from' | 'path'>,
): GivenReference[] {
  return Object.entries(values).flatMap(([field, id]) =>
    module.fields[field]?.target && typeof id === 'string'
      ? [{ ...about, module, field, id, path: `${about.path}/${field}` }]
      : [],
  );
}

/** Whether a change of these fields also requires the right to delete the record. */
export function isMove(module: EntityModule, changed: readonly string[]): boolean {
  return changed.some((field) => module.fields[field]?.moves === 'remove');
}

/** Whether a field of the kind points to another record of the same kind. */
export function isHierarchical(module: EntityModule, field: string): boolean {
  return module.fields[field]?.target === module.kind;
}

/**
 * Checks references in one statement: the caller must be able to view the target, or edit it where `requires` says so, and a
 * hierarchy must have no cycle and at most `maxHierarchyDepth` levels. The targets are locked in the order of lock-order.ts and stay
 * locked (FOR KEY SHARE) until the end of the transaction: a deletion locks a record first, so of a concurrent reference and deletion, the later one sees the earlier one.
 * @param session with which the records are read; pending changes have been flushed
 * @returns the first problem of each reference that has one
 */
async function referenceProblems(
  session: RoleSession,
  given: readonly GivenReference[],
  caller: Caller,
  registry: Registry,
): Promise<ReferenceProblem[]> {
  if (given.length === 0) return [];
  // In the order in which all changes lock records (lock-order.ts).
  const tableOf = ({ module, field }: GivenReference) => registry.references.targetOf(module, field).table;
  const inOrder = given.toSorted((a, b) => compareText(tableOf(a), tableOf(b)));
  const groups = [...Map.groupBy(inOrder, groupOf).values()].map((references, index) => ({ references, index }));
  const parts = groups.map(({ references, index }) => partsOf(references, index, caller, registry));
  const statement = sql`with recursive ${sql.join(parts.flatMap(({ tables }) => tables))}
    ${sql.join(
      parts.flatMap(({ answers }) => answers),
      sql` union all `,
    )}`;
  const { text, values } = compileSql(statement);
  const { rows } = await session.query<FoundRow>(text, values);
  return groups.flatMap(({ references, index }) =>
    problemsOf(
      references,
      rows.filter((row) => row.index === index),
      registry,
      caller,
    ),
  );
}

interface FoundRow {
  readonly index: number;
  /** `found`: a possible target; `moved`: a referring record that moves within its hierarchy. */
  readonly is: 'found' | 'moved';
  readonly id: string;
  readonly isPermitted: boolean;
  /** Number of levels from the root down to a target, or from a moved record down to its deepest descendant. */
  readonly levels: number | null;
  /** Ids of the record and its ancestors. */
  readonly above: readonly string[] | null;
}

/** References with the same key are checked by the same part of the statement. */
function groupOf({ module, field, organizationId }: GivenReference): string {
  return [module.kind, field, organizationId].join(' ');
}

function partsOf(
  references: readonly GivenReference[],
  index: number,
  caller: Caller,
  registry: Registry,
): { readonly tables: readonly Sql[]; readonly answers: readonly Sql[] } {
  const [{ module, field: name, organizationId }] = references as [GivenReference];
  const field = module.fields[name] as Field;
  const target = registry.byKind(field.target as string);
  const ids = [...new Set(references.map(({ id }) => id))];
  const found = sql.ref(`found${index}`);
  const tables = [sql`${found} as (${foundRecords(field, target, ids, organizationId, Viewer.of(registry, caller))})`];
  if (!isHierarchical(module, name)) {
    return {
      tables,
      answers: [
        sql`select ${index}::int as index, 'found' as "is", id, "isPermitted",
      null::int as levels, null::text[] as above from ${found}`,
      ],
    };
  }
  const [table, above, below] = [sql.table(module.table), sql.ref(`above${index}`), sql.ref(`below${index}`)];
  const parent = column('row', name);
  const moved = references.flatMap(({ from }) => (from === undefined ? [] : [from]));
  // The recursion goes one level beyond the limit: that reveals a hierarchy that is too deep, and ends even with a cycle.
  tables.push(
    sql`${above} as (
      select id as start, id, ${parent} as next, 1 as level from ${table} as row where id = any(${ids})
      union all select a.start, row.id, ${parent}, a.level + 1 from ${above} as a join ${table} as row on row.id = a.next
      where a.level <= ${maxHierarchyDepth})`,
    sql`${below} as (
      select id as start, id, 1 as level from ${table} as row where id = any(${moved})
      union all select b.start, row.id, b.level + 1 from ${below} as b
      join ${table} as row on ${parent} = b.id and row.deleted_at is null where b.level <= ${maxHierarchyDepth})`,
  );
  return {
    tables,
    answers: [
      sql`select ${index}::int as index, 'found' as "is", f.id, f."isPermitted",
        (select max(level) from ${above} as a where a.start = f.id) as levels,
        (select array_agg(a.id) from ${above} as a where a.start = f.id) as above from ${found} as f`,
      sql`select ${index}::int as index, 'moved' as "is", start, true, max(level), null::text[] from ${below} group by start`,
    ],
  };
}

/** A select of the targets that the caller can view, and whether it may refer to them with this field. */
function foundRecords(
  field: Field,
  target: EntityModule,
  ids: readonly string[],
  organizationId: string | null,
  viewer: Viewer,
): Sql {
  const isPermitted =
    field.requires === 'edit' ? sql`(${permitted(target, 'row', viewer, 'edit')}) is true` : sql`true`;
  const wanted = Object.entries(field.only ?? {}).map(
    ([name, values]) => sql` and ${column('row', name)} = any(${values})`,
  );
  const conditions = sql`row.id = any(${ids}) and ${visible(target, 'row', viewer)}${sql.join(wanted, sql``)}`;
  const rows = sql`select row.id, ${isPermitted} as "isPermitted" from ${sql.table(target.table)} as row`;
  if (field.onLeave) {
    const endsWithRole = field.onLeave === 'cascade';
    // Records that a person makes for themselves can be theirs with a role of an organization above.
    const isPlace =
      field.creator && endsWithRole
        ? sql`held.organization_id in (select chain.id from organization_chain(${organizationId}) as chain)`
        : sql`held.organization_id = ${organizationId}`;
    // The membership is locked, so that it cannot be deleted before the record exists.
    return sql`${rows} join memberships as held on held.user_id = row.id and ${isPlace}
      and held.deleted_at is null where ${conditions} ${endsWithRole ? sql`order by ${column('held', 'id')} for key share of held` : sql``}`;
  }
  const isSameOrganization =
    target.tenancy === 'organization' ? sql`${column('row', 'organizationId')} = ${organizationId}` : sql`true`;
  // Users are not locked: a referenced user is not deleted, and dependent records are deleted with the membership.
  const lock = target.kind === 'user' ? sql`` : sql`order by ${column('row', 'id')} for key share of row`;
  return sql`${rows} where ${conditions} and ${isSameOrganization} ${lock}`;
}

function problemsOf(
  references: readonly GivenReference[],
  rows: readonly FoundRow[],
  registry: Registry,
  caller: Caller,
): ReferenceProblem[] {
  const found = new Map(rows.filter((row) => row.is === 'found').map((row) => [row.id, row]));
  const heights = new Map(rows.filter((row) => row.is === 'moved').map((row) => [row.id, row.levels ?? 1]));
  return references.flatMap((reference): ReferenceProblem[] => {
    const { module, field, id, from, levels = 1 } = reference;
    const target = registry.byKind(module.fields[field]?.target as string);
    const row = found.get(id);
    const problem = (code: ErrorCode, message: string) => [{ reference, code, message }];
    if (!row) return problem('not_found', missingRecord(target, id).message);
    if (!row.isPermitted)
      return problem(
        'permission_denied',
        deniedMessage(target, { operation: 'edit', caller }) + elsewhereHint(target, 'edit', { id }, caller),
      );
    if (from !== undefined && row.above?.includes(from))
      return problem('invalid_input', `The ${module.typeName} would be part of itself.`);
    if (
      row.levels !== null &&
      row.levels + (from === undefined ? levels : (heights.get(from) ?? 1)) > maxHierarchyDepth
    )
      return problem('invalid_input', tooDeep(module));
    return [];
  });
}

export function tooDeep({ typeName }: EntityModule): string {
  return `The ${typeName} would lie deeper than ${maxHierarchyDepth} levels.`;
}

/** Rejects references that the caller may not set. @throws AppError not_found, permission_denied, invalid_input */
export async function checkReferences(
  work: ChangeWork,
  caller: Caller,
  given: readonly GivenReference[],
): Promise<void> {
  const problems = await openProblems(work, caller, given);
  if (problems.length > 0) throw referenceError(problems);
}

/** The problems of references, without those that need no check. References set by system callers are not checked. */
export async function openProblems(
  work: ChangeWork,
  caller: Caller,
  given: readonly GivenReference[],
): Promise<ReferenceProblem[]> {
  if (caller.kind === 'system') return [];
  const open = given.filter((reference) => !isSelf(reference, caller) && !isOwn(reference, work));
  if (open.length === 0) return [];
  return referenceProblems(await work.readAs('app'), open, caller, work.registry);
}

/** The error for the first problem, with the paths of all that have the same code. @param problems at least one */
export function referenceError(problems: readonly ReferenceProblem[]): AppError {
  const [first] = problems as [ReferenceProblem];
  const alike = problems.filter(({ code }) => code === first.code).slice(0, maxProblems);
  return new AppError(first.code, `${rowPath(first.reference.path)}${first.message}`, {
    details: { fields: alike.map(({ reference, message }) => ({ path: reference.path, message })) },
  });
}

/** Whether the reference is to the caller, whose membership was checked when the request arrived. */
function isSelf({ module, field, id, organizationId }: GivenReference, caller: Caller): boolean {
  const isCaller = caller.kind === 'user' && id === caller.subjectId && organizationId === caller.organizationId;
  return isCaller && module.fields[field]?.onLeave === 'keep';
}

/** Whether this transaction created the target, so that no other can have deleted it. */
function isOwn({ module, field, id }: GivenReference, work: ChangeWork): boolean {
  return work.created.has(id) && !isHierarchical(module, field);
}

/**
 * Locks the hierarchies of a kind before records are moved within them or inserted: of two concurrent moves, neither sees the
 * other, and together they could produce a cycle or too many levels.
 */
export async function lockHierarchies(
  work: ChangeWork,
  caller: Caller,
  module: EntityModule,
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const changesHierarchy = Object.keys(changes).some(
    (field) => isHierarchical(module, field) && changes[field] !== null,
  );
  if (!changesHierarchy || caller.kind === 'system') return;
  const session = await work.readAs('app');
  await session.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `hierarchy ${module.kind} ${caller.organizationId}`,
  ]);
}
