import { sql } from 'kysely';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Statement } from '../storage/sql.ts';
import { perRow } from './per-row.ts';
import { Viewer, type CallerParameter } from './viewer.ts';
import { visible } from './visibility.ts';

/** A caller, and records of which it may view some. */
export interface Viewing {
  readonly caller: Caller;
  readonly ids: readonly string[];
}

/** Columns with what statements otherwise bind. */
const parameterColumns: Readonly<Record<CallerParameter, string>> = {
  subjectId: 'subject_id',
  organizationId: 'organization_id',
  groupIds: 'group_ids',
  sessionId: 'session_id',
};

/**
 * Compiles statements that find which of the records each of many callers may view. Values that a statement otherwise binds for its caller
 * are columns here, so there is one statement for all callers with the same role and product modules. The rows are the index of the viewing
 * as `n`, and an `id`.
 */
export function compileViewedByEach(
  module: EntityModule,
  viewings: readonly Viewing[],
  registry: Pick<Registry, 'references'>,
): Statement[] {
  const numbered = viewings.map((viewing, n) => ({ ...viewing, n }));
  const alike = Map.groupBy(numbered, ({ caller }) => textDecidedBy(caller));
  return [...alike.values()].map((group) => {
    const { caller } = group[0] as Viewing;
    const viewer = new Viewer(
      registry,
      (question) => question(caller),
      (parameter) => sql.ref(`viewing.${parameterColumns[parameter]}`),
    );
    const documents = group.map(({ n, ids, caller: { subjectId, organizationId, groupIds, sessionId } }) => ({
      n,
      ids,
      subject_id: subjectId,
      organization_id: organizationId,
      group_ids: groupIds,
      session_id: sessionId,
    }));
    const seen = perRow(sql`select ${column('row', 'id')} from ${sql.table(module.table)} as row
      where ${column('row', 'id')} = any(viewing.ids) and ${visible(module, 'row', viewer)}`);
    return compileSql(sql`select viewing.n, seen.id from jsonb_to_recordset(${JSON.stringify(documents)}::jsonb)
      as viewing (n int, ids text[], subject_id text, organization_id text, group_ids text[], session_id text)
      cross join lateral (${seen}) as seen`);
  });
}

/** Callers with the same text here get the same statement: all of a caller but the values that statements bind. */
function textDecidedBy({ subjectId, organizationId, groupIds, sessionId, ...others }: Caller): string {
  const bound = [subjectId !== null, organizationId !== null, groupIds.length > 0, sessionId !== null];
  return JSON.stringify([bound, others]);
}
