import { sql } from 'kysely';
import { snakeCase } from '../../base/snake-case.ts';
import type { EntityModule } from '../../model/define.ts';
import type { Registry } from '../../model/registry.ts';
import { fileFieldsOf, type FileField } from '../../model/files/stored-file.ts';
import { column } from '../../storage/column.ts';
import { compileSql, type Sql } from '../../storage/sql.ts';
import type { RoleSession } from '../../storage/transaction.ts';
import { linesOf, pageOf, type ComparedPage, type Comparison } from '../../outbox/comparison.ts';

/** Compares the file fields of live rows of a kind with the objects that they own. */
export async function objectsOfRows(
  session: RoleSession,
  module: EntityModule,
  ids: readonly string[],
): Promise<string[]> {
  const lines = await Promise.all(
    fileFieldsOf(module).map((field) => {
      const isFilled = sql.join([sql`true`, ...filled(field)], sql` and `);
      const { text, values } = compileSql(sql`
        select format('%s %s has the file %s in "%s", but %s', ${module.topic}::text, row.id, ${column('row', field.name)}, ${field.name}::text,
          case when o.id is null then 'owns no such object' else 'says something else about it' end) as line
        from ${sql.table(module.table)} as row left join stored_objects as o on ${owns(module, field.name)}
        where row.id = any(${ids}) and row.deleted_at is null and ${column('row', field.name)} is not null
          and (o.id is null or not (${isFilled}))`);
      return linesOf(session, text, values);
    }),
  );
  return lines.flat();
}

/** Predicate: the object `o` is owned by the field of `row`, in its organization. */
function owns(module: EntityModule, field: string): Sql {
  const isOfOneOrganization = module.tenancy === 'organization' && module.rlsUsing === undefined;
  const organization = isOfOneOrganization ? column('row', 'organizationId') : sql`null`;
  return sql`o.id = ${column('row', field)} and o.state = 'owned' and o.owner_kind = ${module.topic}::text and o.owner_id = row.id
    and o.owner_field = ${field}::text and o.organization_id is not distinct from ${organization}`;
}

/** Columns of the record that repeat measured values; its name can be changed. */
function filled({ rule: { fills } }: FileField): Sql[] {
  return [
    ...(fills.contentType === undefined ? [] : [sql`${column('row', fills.contentType)} = o.content_type`]),
    ...(fills.sizeBytes === undefined ? [] : [sql`${column('row', fills.sizeBytes)} = o.size_bytes`]),
  ];
}

interface OwnedRow {
  readonly id: string;
  readonly state: string;
  readonly kind: string | null;
  readonly owner: string | null;
  readonly field: string | null;
}

/** Compares objects with the records that own them, and with their uploads. */
export function objectComparison(registry: Registry): Comparison {
  const byTopic = new Map(registry.modules.map((module) => [module.topic, module]));
  return {
    name: 'stored objects',
    first: [''],
    page: async (work, { after, limit }): Promise<ComparedPage> => {
      const session = await work.readAs('system');
      const { rows } = await session.query<OwnedRow & Record<string, unknown>>(
        `select id, state, owner_kind as kind, owner_id as owner, owner_field as field from stored_objects
         where id > $1 order by id limit $2`,
        [...after, limit],
      );
      const page = pageOf(rows, limit, ({ id }) => [id]);
      const lines: string[] = [];
      const owned = rows.filter(({ state }) => state === 'owned');
      for (const [key, objects] of Map.groupBy(owned, ({ kind, field }) => `${kind} ${field}`)) {
        const [kind = '', field = ''] = key.split(' ');
        const module = byTopic.get(kind);
        const isKnown = module && fileFieldsOf(module).some(({ name }) => name === field);
        if (!isKnown)
          lines.push(...objects.map(({ id }) => `object ${id} is owned by "${field}" of ${kind}, which is no file`));
        else
          lines.push(
            ...(await linesOf(
              session,
              `select format('object %s is owned by %s %s, which has another file or none', given.object, $1::text, given.owner) as line
               from unnest($2::text[], $3::text[]) as given (object, owner)
               where not exists (select 1 from ${module.table} r where r.id = given.owner and r.${snakeCase(field)} = given.object and r.deleted_at is null)`,
              [kind, objects.map(({ id }) => id), objects.map(({ owner }) => owner)],
            )),
          );
      }
      lines.push(
        ...(await linesOf(
          session,
          `select format('object %s is %s, its upload is %s', o.id, o.state, coalesce(u.state, 'gone')) as line
           from stored_objects o left join uploads u on u.object_id = o.id
           where o.id = any($1) and (o.state = 'ready' and u.state is distinct from 'ready' or o.state = 'owned' and u.state <> 'used')`,
          [rows.map(({ id }) => id)],
        )),
      );
      return { lines, ...page };
    },
  };
}
