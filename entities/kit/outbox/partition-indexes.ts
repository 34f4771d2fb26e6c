import type { Work } from '../storage/work.ts';

interface PartitionIndex {
  /** Name of the index. */
  readonly id: string;
  /** Day of the partition in UTC, as YYYYMMDD; null for the default partition. */
  readonly day: string | null;
}

interface IndexSelection {
  /** Names of indexes of partitioned tables. */
  readonly names: readonly string[];
  readonly after: string;
  readonly limit: number;
  readonly only?: string | undefined;
}

/** The indexes of partitions below these indexes, by name. */
export function partitionIndexes(work: Work, { names, after, limit, only }: IndexSelection): Promise<PartitionIndex[]> {
  return work.rowsAsSystem<PartitionIndex>(
    `select part.relname as id, substring(partition.relname from '_([0-9]{8})$') as day
     from pg_class whole join pg_inherits i on i.inhparent = whole.oid join pg_class part on part.oid = i.inhrelid
       join pg_index x on x.indexrelid = part.oid join pg_class partition on partition.oid = x.indrelid
     where whole.relkind = 'I' and whole.relname = any($1) and part.relname > $2 and ($4::text is null or part.relname = $4)
     order by part.relname limit $3`,
    [names, after, limit, only ?? null],
  );
}

/** Keeps others from rebuilding the same index at the same time. @returns undefined when somebody else does it */
export async function lockPartitionIndex(work: Work, id: string): Promise<true | undefined> {
  const rows = await work.rowsAsSystem<{ is_free: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('reindex:' || $1, 0)) as is_free`,
    [id],
  );
  return rows[0]?.is_free ? true : undefined;
}

export async function reindexPartition(work: Work, id: string): Promise<void> {
  await work.runAsSystem('select reindex_partition($1)', [id]);
}
