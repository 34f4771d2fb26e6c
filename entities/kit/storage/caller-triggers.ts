import { escapeLiteral } from 'pg';
import { snakeCase } from '../base/snake-case.ts';
import { roles } from '../model/caller.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';

/** A trigger that notes changes which concern callers, in `caller_changes` (sql/note_caller_change.sql). */
export interface CallerTrigger {
  readonly name: `note_${'insert' | 'update' | 'delete'}`;
  readonly table: string;
  /** The statement that creates it. */
  readonly text: string;
}

/** Rows from which the state of callers is read. */
interface CallerRows {
  readonly table: string;
  /** Column with the id whose callers a row concerns. */
  readonly of: string;
  /** Columns that the state depends on. */
  readonly columns: readonly string[];
  /** The rows that matter, as an SQL condition; all of them without it. */
  readonly where?: (row: 'old' | 'new') => string;
}

/** Rights of people and groups to an organization. Tuples are no kind. The roles among them are read from memberships. */
const tuplesOfOrganizations: CallerRows = {
  table: 'desired_tuples',
  of: 'object',
  columns: ['object', 'relation', 'subject', 'present'],
  where: (row) =>
    `${row}.object like 'organization:%' and ${row}.relation <> all (array[${roles.map((role) => escapeLiteral(role)).join()}])`,
};

/** The triggers of all tables that decide about callers: those of the kinds that say so (`decidesCallers`), and of tuples. */
export function callerTriggersOf(modules: readonly EntityModule[]): CallerTrigger[] {
  return [...modules.flatMap((module) => rowsOf(module) ?? []), tuplesOfOrganizations].flatMap(triggersOf);
}

function rowsOf({ table, tenancy, decidesCallers }: EntityModule): CallerRows | undefined {
  if (!decidesCallers) return undefined;
  const { of, by } = decidesCallers;
  const fields = new Set([of, ...tenancyField(tenancy), ...by, 'deletedAt']);
  return { table, of: snakeCase(of), columns: [...fields].map(snakeCase) };
}

function triggersOf({ table, of, columns, where }: CallerRows): CallerTrigger[] {
  const changed = columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ');
  const conditions = {
    insert: where?.('new'),
    delete: where?.('old'),
    update: where ? `(${changed}) and ((${where('old')}) or (${where('new')}))` : changed,
  };
  return (['insert', 'update', 'delete'] as const).map((event) => {
    const when = conditions[event] === undefined ? '' : `when (${conditions[event]}) `;
    const text = `create trigger note_${event} after ${event} on ${table} for each row ${when}execute function note_caller_change(${escapeLiteral(of)})`;
    return { name: `note_${event}`, table, text };
  });
}
