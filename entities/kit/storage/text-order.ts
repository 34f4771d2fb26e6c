import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import { column } from './column.ts';
import type { Sql } from './sql.ts';

/**
 * The collation in which lists order texts and filters compare them: the root order of the Unicode Collation Algorithm (ICU `und`), with
 * the bytes as the last criterion (`deterministic`), so that different texts are never equal and a cursor has one place.
 */
export const textOrder = 'record_order';

/** A column in the order of lists. */
export function orderedColumn({ fields }: EntityModule, alias: string, name: string): Sql {
  const left = column(alias, name);
  return fields[name]?.type === 'text' ? sql`${left} collate ${sql.id(textOrder)}` : left;
}

/** A column as it is compared for equality: in the collation of the index that begins with it (list-indexes.ts). */
export function comparedColumn(module: EntityModule, alias: string, name: string): Sql {
  return isOrderedText(module, name) ? orderedColumn(module, alias, name) : column(alias, name);
}

/** Whether the index of a field serves the order of lists. */
export function isOrderedText({ tenancy, order, fields }: EntityModule, name: string): boolean {
  return tenancy === 'organization' && fields[name]?.type === 'text' && order.includes(name);
}
