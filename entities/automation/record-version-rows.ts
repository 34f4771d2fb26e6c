import type { EntityModule } from '../kit/model/define.ts';
import type { Work } from '../kit/storage/work.ts';

type Snapshot = Readonly<Record<string, unknown>>;

/** Values of a record after one of its changes and before it. */
export interface RecordVersions {
  readonly after?: Snapshot;
  readonly before?: Snapshot;
}

/**
 * Values that a record had after a change and before it, as its history has them: never secret ones, and times as texts. Undefined ones are
 * not in the history.
 */
export async function recordVersions(
  work: Work,
  { topic }: Pick<EntityModule, 'topic'>,
  recordId: string,
  recordVersion: number,
): Promise<RecordVersions> {
  const rows = await work.rowsAsSystem<{ version: number; snapshot: Snapshot }>(
    `select record_version as version, snapshot from history
     where entity_kind = $1 and entity_id = $2 and record_version in ($3, $3 - 1)`,
    [topic, recordId, recordVersion],
  );
  const valuesAt = (version: number) => rows.find((row) => row.version === version)?.snapshot;
  const [after, before] = [valuesAt(recordVersion), valuesAt(recordVersion - 1)];
  return { ...(after && { after }), ...(before && { before }) };
}
