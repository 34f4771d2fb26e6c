import { columnsOf } from '../base/columns-of.ts';
import { organizationOf } from '../model/recorded-changes.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { relationOfScopeSql } from '../model/scope-relations.ts';
import {
  objectName,
  relationNames,
  subjectName,
  tupleKey,
  tuplesOf,
  type Tuple,
  type TupleGrant,
} from '../model/tuples.ts';

/** A live row with the tuples that its grants declare. */
export interface RowTuples {
  readonly id: string;
  readonly organizationId: string | null;
  readonly tuples: readonly Tuple[];
}

/** Live rows of a kind in the order of their ids. @param page `after` an id, or from the beginning when it is empty */
export function rowTuples(
  session: RoleSession,
  module: EntityModule,
  page: { readonly after: string; readonly limit: number },
): Promise<RowTuples[]> {
  return readRowTuples(session, module, 'id > $1 order by id limit $2', [page.after, page.limit]);
}

/** Those of these rows that are live, locked against changes until the end of the transaction. */
export function lockRowTuples(
  session: RoleSession,
  module: EntityModule,
  ids: readonly string[],
): Promise<RowTuples[]> {
  return readRowTuples(session, module, 'id = any($1) order by id for share', [ids]);
}

async function readRowTuples(
  session: RoleSession,
  module: EntityModule,
  condition: string,
  values: readonly unknown[],
): Promise<RowTuples[]> {
  const names = ['id', ...tenancyField(module.tenancy), ...Object.keys(module.fields)];
  const columns = names.map((name) => `"${snakeCase(name)}" as "${name}"`).join(', ');
  const { rows } = await session.query<Record<string, unknown>>(
    `select ${columns} from ${module.table} where deleted_at is null and ${condition}`,
    values,
  );
  return rows.map((row) => ({
    id: row['id'] as string,
    organizationId: organizationOf(module, row),
    tuples: tuplesOf(module.grants ?? [], row),
  }));
}

/** Those of these tuples that no live row declares. */
export async function orphanedAmong<T extends Tuple>(
  session: RoleSession,
  registry: Registry,
  tuples: readonly T[],
): Promise<T[]> {
  const orphaned = new Map(tuples.map((tuple) => [tupleKey(tuple), tuple]));
  for (const module of registry.modules)
    for (const grant of module.grants ?? []) {
      const candidates = [...orphaned.values()].filter((tuple) => mayComeFrom(module, grant, tuple));
      if (candidates.length === 0) continue;
      const { rows } = await session.query<Tuple>(declaredBy(module, grant), [
        ...columnsOf(candidates, 'object', 'relation', 'subject'),
        ...(grant.when ? [grant.when.is] : []),
      ]);
      for (const tuple of rows) orphaned.delete(tupleKey(tuple));
    }
  return [...orphaned.values()];
}

function mayComeFrom(module: EntityModule, grant: TupleGrant, tuple: Tuple): boolean {
  const { object, relation, subject } = grant;
  const isOfScope = typeof relation !== 'string' && 'scopes' in relation;
  const [before = '', after = ''] = subjectName(subject.kind, '\0').split('\0');
  return (
    tuple.object.startsWith(objectName(object.kind, '')) &&
    (isOfScope || relationNames(grant, module.fields).includes(tuple.relation)) &&
    tuple.subject.startsWith(before) &&
    tuple.subject.endsWith(after)
  );
}

function declaredBy(module: EntityModule, { object, relation, subject, when }: TupleGrant): string {
  const idIn = (name: string) => `split_part(split_part(t.${name}, ':', 2), '#', 1)`;
  return `select t.object, t.relation, t.subject
    from unnest($1::text[], $2::text[], $3::text[]) as t (object, relation, subject)
    where exists (select 1 from ${module.table} r where r.deleted_at is null
      and r.${snakeCase(object.id)} = ${idIn('object')} and r.${snakeCase(subject.id)} = ${idIn('subject')}
      and ${isRelationSql(relation)}${when ? ` and r.${snakeCase(when.field)} = $4` : ''})`;
}

/** Whether the row `r` gives the relation of the tuple `t`. */
function isRelationSql(relation: TupleGrant['relation']): string {
  if (typeof relation === 'string') return 'true';
  if ('scopes' in relation)
    return `t.relation in (select ${relationOfScopeSql('s')} from unnest(r.${snakeCase(relation.scopes)}) as s)`;
  return `r.${snakeCase(relation.field)} = t.relation`;
}
