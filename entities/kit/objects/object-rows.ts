import type { Work } from '../storage/work.ts';
import type { Location, StoredObject } from './stored-object.ts';

/** Bytes that are durable, and what the provider calls them. */
export interface StoredCopy {
  readonly location: Location;
  readonly version: string;
}

export interface ObjectToCopy extends Pick<StoredObject, 'id' | 'organizationId' | 'location' | 'version'> {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  readonly contentType: string;
}

export interface ObjectRow {
  readonly id: string;
  readonly organization_id: string | null;
  readonly provider: Location['provider'];
  readonly bucket: string;
  readonly region: string;
  readonly key: string;
  readonly version: string;
  /** `bigint`, which the driver gives as text. */
  readonly size_bytes: string;
  readonly sha256: Buffer;
  readonly content_type: string;
}

export const objectColumns = `o.id, o.organization_id, o.provider, o.bucket, o.region, o.key, o.version, o.size_bytes, o.sha256, o.content_type`;

export function objectOf(row: ObjectRow): ObjectToCopy {
  return {
    id: row.id,
    organizationId: row.organization_id,
    location: locationOf(row),
    version: row.version,
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256,
    contentType: row.content_type,
  };
}

export function locationOf({ provider, bucket, region, key }: Location): Location {
  return { provider, bucket, region, key };
}

/** Whether both are the same bytes. The region only says how a bucket is reached, so it is not compared. */
export function isSameLocation(one: Location, other: Location): boolean {
  return one.provider === other.provider && one.bucket === other.bucket && one.key === other.key;
}

/** Whether a location has the bytes of an object or of a verified copy, which nothing may delete or write over. */
export async function isNamed(work: Work, { provider, bucket, key }: Location): Promise<boolean> {
  const rows = await work.rowsAsSystem<{ readonly isNamed: boolean }>(
    `select exists (select 1 from stored_objects where provider = $1 and bucket = $2 and key = $3)
       or exists (select 1 from object_copies c join stored_objects o on o.id = c.object_id
         where c.provider = $1 and c.bucket = $2 and c.key = $3 and c.state = 'verified' and o.state <> 'removing') as "isNamed"`,
    [provider, bucket, key],
  );
  return rows[0]?.isNamed ?? false;
}

/** Whether bytes of an object, or of a copy that was verified once, were stored in a bucket and are not removed. */
export async function hasBytes(work: Work, { provider, bucket }: Omit<Location, 'key' | 'region'>): Promise<boolean> {
  const rows = await work.rowsAsSystem<{ readonly hasBytes: boolean }>(
    `select exists (select 1 from stored_objects where provider = $1 and bucket = $2 and version is not null)
       or exists (select 1 from object_copies where provider = $1 and bucket = $2 and version is not null) as "hasBytes"`,
    [provider, bucket],
  );
  return rows[0]?.hasBytes ?? false;
}

/** An object whose bytes records may still need, with what is known of its copy. */
export interface RestorableObject extends ObjectToCopy {
  /** Only a verified copy is known to have the bytes; another one may have them. */
  readonly copy:
    | (Omit<StoredCopy, 'version'> & { readonly version: string | null; readonly isVerified: boolean })
    | undefined;
}

type RestorableRow = ObjectRow & {
  readonly copy: (Location & { readonly version: string | null; readonly state: string }) | null;
};

const restorable = `select ${objectColumns}, (select jsonb_build_object('provider', c.provider, 'bucket', c.bucket, 'region', c.region,
    'key', c.key, 'version', c.version, 'state', c.state) from object_copies c where c.object_id = o.id) as copy
  from stored_objects o where o.state in ('owned', 'released')`;

/** @returns undefined for an object that does not exist, is not complete, or is being removed */
export async function readRestorable(work: Work, objectId: string): Promise<RestorableObject | undefined> {
  const rows = await work.rowsAsSystem<RestorableRow>(`${restorable} and o.id = $1`, [objectId]);
  return rows.map(restorableOf)[0];
}

/** A page of them in the order of their ids. */
export async function restorablePage(
  work: Work,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<RestorableObject[]> {
  const rows = await work.rowsAsSystem<RestorableRow>(`${restorable} and o.id > $1 order by o.id limit $2`, [
    after,
    limit,
  ]);
  return rows.map(restorableOf);
}

function restorableOf(row: RestorableRow): RestorableObject {
  const { copy } = row;
  return {
    ...objectOf(row),
    copy: copy
      ? { location: locationOf(copy), version: copy.version, isVerified: copy.state === 'verified' }
      : undefined,
  };
}

/**
 * Records where the bytes of an object are after they were restored. In another bucket they have their copy elsewhere as well.
 * @returns false for an object that is being removed: nobody needs the bytes
 */
export async function moveObject(work: Work, objectId: string, { location, version }: StoredCopy): Promise<boolean> {
  const count = await work.runAsSystem(
    `update stored_objects set provider = $2, bucket = $3, region = $4, key = $5, version = $6,
       copy_due_at = case when (provider, bucket) <> ($2, $3) and state = 'owned' then $7 else copy_due_at end
     where id = $1 and state in ('owned', 'released')`,
    [objectId, location.provider, location.bucket, location.region, location.key, version, work.clock.now()],
  );
  return count === 1;
}

/**
 * Records that a copy is the object itself from now on, because its bucket is where objects are stored. It needs another copy.
 * @returns false for an object that is being removed
 */
export async function promoteCopy(work: Work, objectId: string, copy: StoredCopy): Promise<boolean> {
  if (!(await moveObject(work, objectId, copy))) return false;
  await work.runAsSystem('delete from object_copies where object_id = $1', [objectId]);
  return true;
}
