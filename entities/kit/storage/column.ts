import { sql } from 'kysely';
import { snakeCase } from '../base/snake-case.ts';
import type { Sql } from './sql.ts';

/** A column of a row that a statement calls by an alias. */
export function column(alias: string, field: string): Sql {
  return sql`${sql.ref(`${alias}.${snakeCase(field)}`)}`;
}
