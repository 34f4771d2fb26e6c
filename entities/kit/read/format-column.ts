import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import { column } from '../storage/column.ts';
import type { ChoiceWords } from './choice-form.ts';
import type { Sql } from '../storage/sql.ts';

/** A column in the form of an answer: instants as RFC 3339 with milliseconds, decimal numbers as text, choices in capitals unless asked otherwise. */
export function formatColumn(module: EntityModule, field: string, alias: string, words: ChoiceWords = 'capitals'): Sql {
  const value = column(alias, field);
  const type = module.fields[field]?.type ?? (field === 'createdAt' || field === 'updatedAt' ? 'timestamp' : 'text');
  if (type === 'timestamp') return sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  if (type === 'decimal') return sql`${value}::text`;
  return type === 'choice' && words === 'capitals' ? sql`upper(${value})` : value;
}
