import { snakeCase } from '../kit/base/snake-case.ts';
import { shareKindOf, sharedRecordField } from '../kit/model/derived/share.ts';
import type { EntityModule } from '../kit/model/define.ts';
import type { Work } from '../kit/storage/work.ts';

/** Ids of the groups with which a record is shared, or was when it was deleted: its shares are deleted after it, in the same transaction. */
export async function groupsOfRecord(work: Work, module: EntityModule, id: string): Promise<string[]> {
  const shares = work.registry.modules.find(({ kind }) => kind === shareKindOf(module));
  if (!shares) return [];
  const rows = await work.rowsAsSystem<{ groupId: string }>(
    `select distinct s.group_id as "groupId" from "${shares.table}" s
     join "${module.table}" r on r.id = s."${snakeCase(sharedRecordField(module))}"
     where r.id = $1 and (s.deleted_at is null or s.deleted_at >= r.deleted_at)`,
    [id],
  );
  return rows.map(({ groupId }) => groupId);
}
