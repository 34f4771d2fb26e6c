import type { Work } from '../storage/work.ts';
import type { Location } from './stored-object.ts';

/** A bucket in which objects or copies are. */
export type StoragePlace = Omit<Location, 'key'>;

/** All places that a row names. */
export function storagePlaces(work: Work): Promise<(StoragePlace & { readonly hasObjects: boolean })[]> {
  return work.rowsAsSystem<StoragePlace & { readonly hasObjects: boolean }>(
    `select provider, bucket, region, bool_or(is_object) as "hasObjects" from (
       select distinct provider, bucket, region, true as is_object from stored_objects
       union select distinct provider, bucket, region, false from object_copies) as places
     group by provider, bucket, region order by provider, bucket, region`,
  );
}

export interface ExpectedKey {
  readonly objectId: string;
  readonly key: string;
  readonly sizeBytes: number;
  /** `object`: its bytes must be there; `copy`: a verified copy; `other`: something that may be there or not, such as an unfinished upload. */
  readonly is: 'object' | 'copy' | 'other';
  /** Of a copy. */
  readonly version: string | null;
}

/** A page of the keys of a place, in the order in which providers list them (by bytes). @param place its bucket */
export async function expectedKeys(
  work: Work,
  { provider, bucket }: StoragePlace,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ExpectedKey[]> {
  const rows = await work.rowsAsSystem<Omit<ExpectedKey, 'sizeBytes'> & { readonly sizeBytes: string | null }>(
    `select * from ((select id as "objectId", key, size_bytes as "sizeBytes", null as version,
        case when state in ('ready', 'owned', 'released') then 'object' else 'other' end as is
      from stored_objects where provider = $1 and bucket = $2 and key collate "C" > $3 order by key collate "C" limit $4)
     union all
     (select c.object_id, c.key, o.size_bytes, c.version, case when c.state = 'verified' and o.state in ('owned', 'released') then 'copy' else 'other' end
      from object_copies c join stored_objects o on o.id = c.object_id
      where c.provider = $1 and c.bucket = $2 and c.key collate "C" > $3 order by c.key collate "C" limit $4)
    ) as keys order by key collate "C" limit $4`,
    [provider, bucket, after, limit],
  );
  return rows.map((row) => ({ ...row, sizeBytes: Number(row.sizeBytes ?? 0) }));
}

/** Those of these keys that belong to an object by now, wherever its bytes or copies are. */
export async function knownKeys(work: Work, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await work.rowsAsSystem<{ key: string }>(
    `select key from stored_objects where key = any($1) union select key from object_copies where key = any($1)`,
    [keys],
  );
  return new Set(rows.map(({ key }) => key));
}
