import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import { changeOf } from '../model/recorded-changes.ts';
import { column } from '../storage/column.ts';
import type { Sql } from '../storage/sql.ts';
import { leavesOf, restoresOf } from './change-behaviour.ts';
import { stampOf, type ChangeWork } from './change-work.ts';
import { updateRows } from './update-rows.ts';

/** Deletions that are undone: those that these requests made in these organizations. */
export interface UndoneDeletion {
  readonly organizationIds: readonly string[];
  readonly requestIds: readonly string[];
  readonly since: Date;
}

/** Position in history. It is passed through Temporal, so the time is a text. */
export interface HistoryPosition {
  readonly at: string;
  readonly id: string;
}

interface RestoredPage {
  readonly restored: number;
  /** Where the next page begins; null after the last one. */
  readonly next: HistoryPosition | null;
}

interface DeletedRecord extends HistoryPosition {
  readonly topic: string;
  readonly recordId: string;
  readonly version: number;
}

/** Kinds that are restored while their organization is still deleted, and those that are restored together with it. */
export function restoredKinds(
  { registry }: Pick<ChangeWork, 'registry'>,
  owner: EntityModule,
): { readonly contents: EntityModule[]; readonly atOnce: EntityModule[] } {
  const leaves = leavesOf(owner);
  const restored = registry.modules.filter((module) => restoresOf(owner)?.(module));
  return {
    contents: restored.filter((module) => leaves?.(module)),
    atOnce: restored.filter((module) => !leaves?.(module)),
  };
}

/**
 * Restores records of one page of the history, the last deletions first. A record whose owner is deleted stays deleted: when its owner is
 * restored later, another walk through the history finds it.
 */
export async function restorePage(
  work: ChangeWork,
  modules: readonly EntityModule[],
  deletion: UndoneDeletion,
  { before, limit }: { readonly before: HistoryPosition | null; readonly limit: number },
): Promise<RestoredPage> {
  const topics = new Map(modules.map((module) => [module.topic, module]));
  const { organizationIds, requestIds, since } = deletion;
  const deleted = await work.rowsAsSystem<DeletedRecord>(
    `select h.recorded_at::text as at, h.id, h.entity_kind as topic, h.entity_id as "recordId", h.record_version as version from history h
     where h.organization_id = any($1) and h.operation = 'deleted' and h.request_id = any($2) and h.recorded_at >= $3
       and h.entity_kind = any($4) and ($5::text is null or (h.recorded_at, h.id) < ($5::timestamptz, $6))
     order by h.recorded_at desc, h.id desc limit $7`,
    [organizationIds, requestIds, since, [...topics.keys()], before?.at ?? null, before?.id ?? null, limit],
  );
  let restored = 0;
  for (const [topic, records] of Map.groupBy(deleted, (record) => record.topic)) {
    const module = topics.get(topic);
    if (!module) continue;
    let count: number;
    // Records of one kind can own each other.
    do {
      count = await restoreRecords(work, module, records);
      restored += count;
    } while (count > 0);
  }
  const last = deleted.at(-1);
  return { restored, next: last && deleted.length === limit ? { at: last.at, id: last.id } : null };
}

/** @returns how many it restored */
async function restoreRecords(
  work: ChangeWork,
  module: EntityModule,
  records: readonly DeletedRecord[],
): Promise<number> {
  const stamp = stampOf(work);
  let count = 0;
  await work.changeRows('system', module, async (session) => {
    const which = sql`row.id in (select gone.id from ${sql.table(module.table)} as gone
      join unnest(${records.map(({ recordId }) => recordId)}::text[], ${records.map(({ version }) => version)}::int[]) as given (id, version)
        on given.id = gone.id and given.version = gone.record_version
      where gone.deleted_at is not null and ${ownersAreLive(work, module)} order by gone.id for update of gone)`;
    const rows = await updateRows(session, module, { values: { deletedAt: null, deletedBy: null }, which, stamp });
    count = rows.length;
    return rows.map((row) => changeOf(module, { ...row, deletedAt: stamp.at }, row, []));
  });
  return count;
}

/** Whether all is there whose deletion deletes the record `gone` too. */
function ownersAreLive({ registry }: ChangeWork, { fields }: EntityModule): Sql {
  const conditions = Object.entries(fields).flatMap(([name, { target, onDelete }]) => {
    // Organizations are restored last, all of them.
    if (onDelete !== 'cascade' || target === undefined || target === 'organization') return [];
    const reference = column('gone', name);
    return [
      sql`(${reference} is null or exists (select 1 from ${sql.table(registry.byKind(target).table)} as owner
        where owner.id = ${reference} and owner.deleted_at is null))`,
    ];
  });
  return sql.join([sql`true`, ...conditions], sql` and `);
}

/** All that these requests deleted of these kinds, in one transaction. @returns how many it restored */
export async function restoreAll(
  work: ChangeWork,
  modules: readonly EntityModule[],
  deletion: UndoneDeletion,
): Promise<number> {
  let restored = 0;
  let page: RestoredPage | undefined;
  do {
    page = await restorePage(work, modules, deletion, { before: page?.next ?? null, limit: pageSize });
    restored += page.restored;
  } while (page.next !== null);
  return restored;
}

const pageSize = 500;
