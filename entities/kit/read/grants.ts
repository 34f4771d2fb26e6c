import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import type { Granter } from '../model/reference-index.ts';
import type { TupleGrant } from '../model/tuples.ts';
import type { Sql } from '../storage/sql.ts';
import { column } from '../storage/column.ts';
import type { Viewer } from './viewer.ts';

/** How grants in rows of other kinds are compiled: as EXISTS for a given row, or as a semi-join that finds the rows. */
export type Lookup = 'exists' | 'semi-join';

/**
 * Predicates for the rows of a kind to which the caller, or one of its groups, has one of these relations. They evaluate the
 * grants from which the tuples of the authorization store are made, on the rows that declare them.
 * @returns one predicate for each grant that can give the relation to the caller; none when the caller cannot have it
 */
export function relatedPredicates(
  module: EntityModule,
  relations: readonly string[],
  alias: string,
  viewer: Viewer,
  lookup: Lookup = 'exists',
): Sql[] {
  return viewer.grantersOf(module).flatMap((granter) => {
    const { grant } = granter;
    if (!canGive(grant, relations)) return [];
    const isOwn = granter.module === module && grant.object.id === 'id';
    const from = isOwn ? alias : 'g';
    const held = subjectPredicate(grant, from, viewer);
    if (!held) return [];
    const conditions = [
      held,
      ...(typeof grant.relation !== 'string' && 'field' in grant.relation
        ? [sql`${column(from, grant.relation.field)} = any(${relations})`]
        : []),
      ...(grant.when ? [sql`${column(from, grant.when.field)} = ${grant.when.is}`] : []),
    ];
    return [
      isOwn
        ? sql`(${sql.join(conditions, sql` and `)})`
        : grantPredicate(granter, column(alias, 'id'), conditions, { viewer, lookup }),
    ];
  });
}

/** Whether a grant can give all members of an organization one of these relations; a look-up by rights would then find too many rows. */
export function isOpenToMembers(module: EntityModule, relations: readonly string[], viewer: Viewer): boolean {
  return viewer
    .grantersOf(module)
    .some(({ grant }) => grant.subject.kind === 'organization' && canGive(grant, relations));
}

function canGive({ relation }: TupleGrant, relations: readonly string[]): boolean {
  if (typeof relation !== 'string') return 'field' in relation;
  return relations.includes(relation);
}

/** The predicate for a grant in rows of another kind. */
function grantPredicate(
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

/** Whether the subject of a grant is the caller or includes it; undefined when that is impossible for this caller. */
function subjectPredicate({ subject }: TupleGrant, alias: string, viewer: Viewer): Sql | undefined {
  const field = column(alias, subject.id);
  switch (subject.kind) {
    case 'user':
      return viewer.kind === 'user' && viewer.subjectId ? sql`${field} = ${viewer.subjectId}` : undefined;
    case 'group':
      return viewer.groupIds && sql`${field} = any(${viewer.groupIds})`;
    case 'organization':
      return viewer.role === null ? undefined : sql`${field} = ${viewer.organizationId}`;
    // API tokens have no rights to single records (decideByCaller).
    case 'service':
      return undefined;
    default:
      subject.kind satisfies never;
      throw new Error('unknown subject');
  }
}
