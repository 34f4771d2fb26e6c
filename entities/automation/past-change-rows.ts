import { silentActors } from '../kit/model/caller.ts';
import type { EntityModule } from '../kit/model/define.ts';
import type { Work } from '../kit/storage/work.ts';

type Values = Readonly<Record<string, unknown>>;

/** Changes of the records of a kind in a time, but for those that announce nothing (`silentActors`, deletions together with an owner). */
export interface PastTime {
  readonly organizationId: string;
  readonly since: Date;
  readonly until: Date;
}

/** Position of a change among the others; the time has microseconds. */
export interface ChangePosition {
  readonly at: string;
  readonly id: string;
}

export interface PastChange extends ChangePosition {
  readonly recordId: string;
  readonly recordVersion: number;
  readonly operation: 'created' | 'updated' | 'deleted';
  readonly changedFields: readonly string[];
  readonly actor: string;
  readonly after: Values;
  readonly before: Values | null;
}

const announced = `h.organization_id = $1 and h.entity_kind = $2 and h.recorded_at >= $3 and h.recorded_at <= $4
  and not h.actor = any($5) and (h.operation <> 'deleted' or exists (select 1 from events e
    where e.request_id = h.request_id and e.entity_id = h.entity_id and e.record_version = h.record_version
      and e.topic = h.entity_kind || '.deleted'))`;

export async function countPastChanges(
  work: Work,
  { topic }: Pick<EntityModule, 'topic'>,
  { organizationId, since, until }: PastTime,
): Promise<number> {
  const [row] = await work.rowsAsSystem<{ count: number }>(
    `select count(*)::int as count from history h where ${announced}`,
    [organizationId, topic, since, until, [...silentActors]],
  );
  return row?.count ?? 0;
}

/** The next changes in their order, each with the values of its record after it and before it. */
export function pastChanges(
  work: Work,
  { topic }: Pick<EntityModule, 'topic'>,
  { organizationId, since, until }: PastTime,
  { after, limit }: { readonly after: ChangePosition | null; readonly limit: number },
): Promise<PastChange[]> {
  return work.rowsAsSystem<PastChange>(
    `with page as (
       select h.* from history h where ${announced}
         and ($6::timestamptz is null or (h.recorded_at, h.id) > ($6::timestamptz, $7))
       order by h.recorded_at, h.id limit $8
     )
     select p.id, to_json(p.recorded_at) #>> '{}' as at, p.entity_id as "recordId", p.record_version as "recordVersion", p.operation,
       p.changed_fields as "changedFields", p.actor, p.snapshot as after, former.snapshot as before
     from page p left join lateral (
       select b.snapshot from history b
       where b.entity_kind = p.entity_kind and b.entity_id = p.entity_id and b.record_version = p.record_version - 1 limit 1
     ) former on true
     order by p.recorded_at, p.id`,
    [organizationId, topic, since, until, [...silentActors], after?.at ?? null, after?.id ?? '', limit],
  );
}
