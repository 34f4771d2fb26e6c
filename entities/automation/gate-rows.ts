import type { Work } from '../kit/storage/work.ts';
import type { DefinitionDocument } from './document/definition-document.ts';

/** A published version that can hold changes. */
export interface GateRow {
  readonly id: string;
  readonly definitionId: string;
  readonly recordKind: string;
  readonly document: DefinitionDocument;
  /** Name of its definition. */
  readonly name: string;
}

export function readGateVersions(work: Work, ids: readonly string[]): Promise<GateRow[]> {
  return work.rowsAsSystem<GateRow & Record<string, unknown>>(
    `select v.id, v.definition_id as "definitionId", v.record_kind as "recordKind", v.document, d.name
      from workflow_versions v join workflow_definitions d on d.id = v.definition_id where v.id = any($1) order by v.id`,
    [ids],
  );
}

/**
 * Locks open proposals in the order of their ids, and then the instances that decide about them (docs/decisions/lock-order.md).
 * @param table of the proposals
 * @param keys their `openKey`
 * @returns the ids of the proposals
 */
export async function lockOpenProposals(work: Work, table: string, keys: readonly string[]): Promise<string[]> {
  const found = await work.rowsAsSystem<{ readonly id: string; readonly instance: string | null }>(
    `select id, instance_id as instance from "${table}" where open_key = any($1) and deleted_at is null order by id
      for no key update`,
    [keys],
  );
  const instances = found.flatMap(({ instance }) => instance ?? []);
  if (instances.length > 0)
    await work.rowsAsSystem('select id from workflow_instances where id = any($1) order by id for no key update', [
      instances,
    ]);
  return found.map(({ id }) => id);
}

/** Number of organizations of which published versions hold changes. */
export async function countGatedOrganizations(work: Work): Promise<number> {
  const [row] = await work.rowsAsSystem<{ readonly count: number }>(
    `select count(distinct organization_id)::int as count from workflow_versions
      where is_gate and ended_at is null and deleted_at is null`,
  );
  return row?.count ?? 0;
}
