import { sql } from 'kysely';
import { snakeCase } from '../base/snake-case.ts';
import type { Sql } from './sql.ts';

/** A column, qualified with the alias of its table. */
export function column(alias: string, field: string): Sql {
  return sql`${sql.ref(`${alias}.${snakeCase(field)}`)}`;
}
