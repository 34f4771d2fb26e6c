import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import type { Granter } from '../model/reference-index.ts';
import type { TupleGrant } from '../model/tuples.ts';
import type { Sql } from '../storage/sql.ts';
import { column } from '../storage/column.ts';
import type { Viewer } from './viewer.ts';

/** How grants in other rows are looked up: for a row that is found otherwise, or by a semi-join that finds the rows. */
export type Lookup = 'of the row' | 'semi-join';

/**
 * Rows of a kind to which the caller, or a group of theirs, has one of these relations: the same grants that become tuples
 * of the authorization store, read from the rows that they follow.
 * @returns one predicate for each way to have it; none when the caller cannot have it
 */
export function relatedPredicates(
  module: EntityModule,
  relations: readonly string[],
  alias: string,
  viewer: Viewer,
  lookup: Lookup = 'of the row',
): Sql[] {
  return viewer.grantersOf(module).flatMap((granter) => {
    const { grant } = granter;
    if (!gives(grant, relations)) return [];
    const isOwn = granter.module === module && grant.object.id === 'id';
    const from = isOwn ? alias : 'g';
    const held = isHeld(grant, from, viewer);
    if (!held) return [];
    const conditions = [
      held,
      ...(typeof grant.relation === 'string' ? [] : [sql`${column(from, grant.relation.field)} = any(${relations})`]),
      ...(grant.when ? [sql`${column(from, grant.when.field)} = ${grant.when.is}`] : []),
    ];
    return [
      isOwn
        ? sql`(${sql.join(conditions, sql` and `)})`
        : among(granter, column(alias, 'id'), conditions, { viewer, lookup }),
    ];
  });
}

/** Whether all members of an organization have one of these relations to some records: as good as to all of them. */
export function isOpenToMembers(module: EntityModule, relations: readonly string[], viewer: Viewer): boolean {
  return viewer
    .grantersOf(module)
    .some(({ grant }) => grant.subject.kind === 'organization' && gives(grant, relations));
}

function gives({ relation }: TupleGrant, relations: readonly string[]): boolean {
  return typeof relation !== 'string' || relations.includes(relation);
}

/** Rows whose id stands in the rows of another kind. */
function among(
  { module, grant }: Granter,
  id: Sql,
  conditions: readonly Sql[],
  { viewer, lookup }: { readonly viewer: Viewer; readonly lookup: Lookup },
): Sql {
  const table = sql.table(module.table);
  const object = column('g', grant.object.id);
  const all = [
    sql`${column('g', 'deletedAt')} is null`,
    sql`${column('g', 'organizationId')} = ${viewer.organizationId}`,
    ...conditions,
  ];
  if (lookup === 'semi-join')
    return sql`${id} = any(array(select ${object} from ${table} as g where ${sql.join(all, sql` and `)}))`;
  return sql`exists (select 1 from ${table} as g where ${object} = ${id} and ${sql.join(all, sql` and `)})`;
}

/** Whether the row's subject is the caller; undefined when it cannot be. */
function isHeld({ subject }: TupleGrant, alias: string, viewer: Viewer): Sql | undefined {
  const field = column(alias, subject.id);
  switch (subject.kind) {
    case 'user':
      return viewer.kind === 'user' && viewer.subjectId ? sql`${field} = ${viewer.subjectId}` : undefined;
    case 'group':
      return viewer.groupIds && sql`${field} = any(${viewer.groupIds})`;
    case 'organization':
      return viewer.role === null ? undefined : sql`${field} = ${viewer.organizationId}`;
    default:
      subject.kind satisfies never;
      throw new Error('unknown subject');
  }
}
