import { organizationOf } from '../model/changes.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { objectName, subjectName, tupleKey, tuplesOf, type Tuple, type TupleGrant } from '../model/tuples.ts';

/** A live row with the tuples it stands for. */
export interface RowTuples {
  readonly id: string;
  readonly organizationId: string | null;
  readonly tuples: readonly Tuple[];
}

/**
 * Live rows of a kind in the order of their ids.
 * @param after id; empty: from the beginning
 */
export function rowTuples(
  session: RoleSession,
  module: EntityModule,
  { after, most }: { readonly after: string; readonly most: number },
): Promise<RowTuples[]> {
  return standing(session, module, 'id > $1 order by id limit $2', [after, most]);
}

/** Those of these rows that are live, kept as they are until the end of the transaction. */
export function lockRowTuples(
  session: RoleSession,
  module: EntityModule,
  ids: readonly string[],
): Promise<RowTuples[]> {
  return standing(session, module, 'id = any($1) order by id for share', [ids]);
}

async function standing(
  session: RoleSession,
  module: EntityModule,
  which: string,
  values: readonly unknown[],
): Promise<RowTuples[]> {
  const names = ['id', ...tenancyField(module.tenancy), ...Object.keys(module.fields)];
  const columns = names.map((name) => `${snakeCase(name)} as "${name}"`).join(', ');
  const { rows } = await session.query<Record<string, unknown>>(
    `select ${columns} from ${module.table} where deleted_at is null and ${which}`,
    values,
  );
  return rows.map((row) => ({
    id: row['id'] as string,
    organizationId: organizationOf(module, row),
    tuples: tuplesOf(module.grants ?? [], row),
  }));
}

/** Those of these tuples that no live row stands for. */
export async function orphanedAmong<T extends Tuple>(
  session: RoleSession,
  registry: Registry,
  tuples: readonly T[],
): Promise<T[]> {
  const unfounded = new Map(tuples.map((tuple) => [tupleKey(tuple), tuple]));
  for (const module of registry.modules)
    for (const grant of module.grants ?? []) {
      const asked = [...unfounded.values()].filter((tuple) => mayComeFrom(module, grant, tuple));
      if (asked.length === 0) continue;
      const { rows } = await session.query<Tuple>(foundedBy(module, grant), [
        asked.map(({ object }) => object),
        asked.map(({ relation }) => relation),
        asked.map(({ subject }) => subject),
        ...(grant.when ? [grant.when.is] : []),
      ]);
      for (const tuple of rows) unfounded.delete(tupleKey(tuple));
    }
  return [...unfounded.values()];
}

function mayComeFrom(module: EntityModule, { object, relation, subject }: TupleGrant, tuple: Tuple): boolean {
  const relations = typeof relation === 'string' ? [relation] : (module.fields[relation.field]?.values ?? []);
  const [before = '', after = ''] = subjectName(subject.kind, '\0').split('\0');
  return (
    tuple.object.startsWith(objectName(object.kind, '')) &&
    relations.includes(tuple.relation) &&
    tuple.subject.startsWith(before) &&
    tuple.subject.endsWith(after)
  );
}

function foundedBy(module: EntityModule, { object, relation, subject, when }: TupleGrant): string {
  const idIn = (name: string) => `split_part(split_part(t.${name}, ':', 2), '#', 1)`;
  const isMeant = typeof relation === 'string' ? 'true' : `r.${snakeCase(relation.field)} = t.relation`;
  return `select t.object, t.relation, t.subject
    from unnest($1::text[], $2::text[], $3::text[]) as t (object, relation, subject)
    where exists (select 1 from ${module.table} r where r.deleted_at is null
      and r.${snakeCase(object.id)} = ${idIn('object')} and r.${snakeCase(subject.id)} = ${idIn('subject')}
      and ${isMeant}${when ? ` and r.${snakeCase(when.field)} = $4` : ''})`;
}
