import { pauseAfter } from '../due-work/define-due-work.ts';
import type { Work } from '../storage/work.ts';
import { copiesDue } from './copies-due.ts';
import {
  locationOf,
  objectColumns,
  objectOf,
  type ObjectRow,
  type ObjectToCopy,
  type StoredCopy,
} from './object-rows.ts';
import type { Location } from './stored-object.ts';

/** Progress of a copy in parts; any process can continue it. */
export interface PartProgress {
  /** Data that the provider needs in order to continue. */
  readonly ref: Readonly<Record<string, string | number>>;
  readonly partBytes: number;
  /** Of the parts in their order; all have `partBytes` bytes. */
  readonly tags: readonly string[];
}

/** Bytes outside of the verified copy that have to be finished or deleted. */
export interface CopyRemains {
  /** Where a copy is being written. */
  readonly target?: Location;
  readonly parts?: PartProgress;
  /** A former copy that the verified one has replaced. */
  readonly former?: Location;
}

/** An object with what there is of its copy. */
export interface CopyInProgress {
  readonly object: ObjectToCopy;
  /** Number of this attempt. Results that an earlier attempt records later have no effect. */
  readonly attempt: number;
  /** The copy that was verified last, unless there was none. */
  readonly known: (StoredCopy & { readonly isVerified: boolean }) | undefined;
  readonly remains: CopyRemains;
}

interface CopyRow extends ObjectRow {
  readonly attempts: number;
  readonly copy_state: string;
  readonly copy: Location & { readonly version: string | null };
  readonly remains: CopyRemains;
}

/**
 * Begins an attempt to copy an object. The row of a verified copy stays verified until another one is.
 * @param target where the copy is to be
 * @returns undefined for an object that no record owns
 */
export async function beginCopy(
  work: Work,
  objectId: string,
  target: Omit<Location, 'key'>,
): Promise<CopyInProgress | undefined> {
  const [row] = await work.rowsAsSystem<CopyRow>(
    `with o as (select * from stored_objects where id = $1 and state = 'owned' for key share),
     copy as (
       insert into object_copies as held (object_id, provider, bucket, region, key, state, attempts, parts_ref, changed_at)
       select o.id, $2::text, $3::text, $4::text, o.key, 'copying', 1,
         jsonb_build_object('target', jsonb_build_object('provider', $2::text, 'bucket', $3::text, 'region', $4::text, 'key', o.key)), $5 from o
       on conflict (object_id) do update set attempts = held.attempts + 1, parts_ref = coalesce(held.parts_ref, excluded.parts_ref),
         changed_at = excluded.changed_at
       returning *)
     select ${objectColumns}, copy.attempts, copy.state as copy_state, copy.parts_ref as remains,
       jsonb_build_object('provider', copy.provider, 'bucket', copy.bucket, 'region', copy.region, 'key', copy.key, 'version', copy.version) as copy
     from o, copy`,
    [objectId, target.provider, target.bucket, target.region, work.clock.now()],
  );
  if (!row) return undefined;
  const { version } = row.copy;
  const isVerified = row.copy_state === 'verified';
  return {
    object: objectOf(row),
    attempt: row.attempts,
    known: version === null ? undefined : { location: locationOf(row.copy), version, isVerified },
    remains: row.remains,
  };
}

/** Names an attempt. */
export interface CopyAttempt {
  readonly objectId: string;
  readonly attempt: number;
}

/** @returns false when a later attempt has begun, or the object was removed: this one must stop */
export async function saveCopyRemains(
  work: Work,
  { objectId, attempt }: CopyAttempt,
  { remains, copiedBytes }: { readonly remains: CopyRemains; readonly copiedBytes: number },
): Promise<boolean> {
  const count = await work.runAsSystem(
    'update object_copies set parts_ref = $3, copied_bytes = $4, changed_at = $5 where object_id = $1 and attempts = $2',
    [objectId, attempt, JSON.stringify(remains), copiedBytes, work.clock.now()],
  );
  return count === 1;
}

/**
 * Records that a copy was read back and is equal to the object. Without a former copy that ends the work for the object.
 * @param former copy that is to be deleted now
 * @returns false when a later attempt has begun, or the object was removed
 */
export async function verifyCopy(
  work: Work,
  { objectId, attempt }: CopyAttempt,
  { location, version }: StoredCopy,
  former: Location | undefined,
): Promise<boolean> {
  const count = await work.runAsSystem(
    `with verified as (
       update object_copies c set state = 'verified', provider = $3, bucket = $4, region = $5, key = $6, version = $7, parts_ref = $8,
         copied_bytes = o.size_bytes, problem = null, verified_at = $9, checked_at = $9, changed_at = $9
       from stored_objects o where c.object_id = $1 and c.attempts = $2 and o.id = c.object_id and o.state in ('owned', 'released')
       returning c.object_id, c.parts_ref)
     update stored_objects o set copy_due_at = case when verified.parts_ref is null then null else o.copy_due_at end
     from verified where o.id = verified.object_id`,
    [
      objectId,
      attempt,
      location.provider,
      location.bucket,
      location.region,
      location.key,
      version,
      former ? JSON.stringify({ former } satisfies CopyRemains) : null,
      work.clock.now(),
    ],
  );
  return count === 1;
}

/** Ends the work for an object that has a verified copy where it is to be, and no remains. */
export async function settleCopy(work: Work, { objectId, attempt }: CopyAttempt): Promise<void> {
  await work.runAsSystem(
    `with settled as (update object_copies set parts_ref = null
       where object_id = $1 and attempts = $2 and state = 'verified' returning object_id)
     update stored_objects o set copy_due_at = null from settled where o.id = settled.object_id`,
    [objectId, attempt],
  );
}

/** Records why a copy was not made. A verified copy stays as it is. The copy is due again after a pause that grows with the attempts. */
export async function failCopy(work: Work, { objectId, attempt }: CopyAttempt, problem: string): Promise<void> {
  const now = work.clock.now();
  const pauseMs = pauseAfter(copiesDue.retry, attempt) ?? 0;
  await work.runAsSystem(
    `with failed as (update object_copies set state = case when state = 'verified' then state else 'failed' end, problem = $3, changed_at = $4
       where object_id = $1 and attempts = $2 returning object_id)
     update stored_objects o set copy_due_at = $5 from failed where o.id = failed.object_id and o.state = 'owned'`,
    [objectId, attempt, problem, now, new Date(now.getTime() + pauseMs)],
  );
}

/** Where the copies of the objects of a bucket are to be. */
interface CopyTarget {
  readonly source: Omit<Location, 'key'>;
  readonly target: Omit<Location, 'key'>;
}

/** The buckets of objects that have copies. */
export function copiedPlaces(work: Work): Promise<CopyTarget['source'][]> {
  return work.rowsAsSystem<CopyTarget['source']>(
    `select distinct o.provider, o.bucket, o.region from object_copies c join stored_objects o on o.id = c.object_id where o.state = 'owned'`,
  );
}

/** Makes the copies due that are not where they are to be today, or that have remains. @returns how many */
export async function dueMovedCopies(work: Work, targets: readonly CopyTarget[], limit: number): Promise<number> {
  if (targets.length === 0) return 0;
  const count = await work.runAsSystem(
    `update stored_objects held set copy_due_at = $2 from (
       select o.id from stored_objects o join object_copies c on c.object_id = o.id
         join jsonb_to_recordset($1) as t (source jsonb, target jsonb)
           on (t.source ->> 'provider', t.source ->> 'bucket', t.source ->> 'region') = (o.provider, o.bucket, o.region)
       where o.state = 'owned' and o.copy_due_at is null and c.state = 'verified'
         and (c.parts_ref is not null
           or (c.provider, c.bucket, c.region) <> (t.target ->> 'provider', t.target ->> 'bucket', t.target ->> 'region'))
       order by o.id limit $3 for update of o skip locked) as moved
     where held.id = moved.id`,
    [JSON.stringify(targets), work.clock.now(), limit],
  );
  return count;
}

interface CheckedCopy extends StoredCopy {
  readonly object: ObjectToCopy;
}

/** Time after which a copy that was taken but not read is due again, in milliseconds. */
const checkLeaseMs = 30 * 60_000;

/**
 * Takes the verified copy that was read longest ago, before the given instant. Until it was read it is marked as read only as long ago that
 * it is due again after half an hour, behind those that wait longer.
 */
export async function claimCopyToCheck(work: Work, before: Date): Promise<CheckedCopy | undefined> {
  const rows = await work.rowsAsSystem<ObjectRow & { readonly copy: Location & { readonly version: string } }>(
    `with oldest as (select object_id from object_copies where state = 'verified' and checked_at < $1
       and exists (select 1 from stored_objects where id = object_id and state in ('owned', 'released'))
       order by checked_at limit 1 for update skip locked),
     c as (update object_copies held set checked_at = $2 from oldest where held.object_id = oldest.object_id returning held.*)
     select ${objectColumns}, jsonb_build_object('provider', c.provider, 'bucket', c.bucket, 'region', c.region, 'key', c.key, 'version', c.version) as copy
     from c join stored_objects o on o.id = c.object_id where o.state in ('owned', 'released')`,
    [before, new Date(before.getTime() + checkLeaseMs)],
  );
  return rows.map((row) => ({ object: objectOf(row), location: locationOf(row.copy), version: row.copy.version }))[0];
}

/** Records that a copy was read again and is equal to its object. */
export async function confirmCopy(work: Work, objectId: string, version: string): Promise<void> {
  await work.runAsSystem(
    `update object_copies set checked_at = $3 where object_id = $1 and version = $2 and state = 'verified'`,
    [objectId, version, work.clock.now()],
  );
}

/** Records that a copy that was not valid was read and is equal to its object, unless another one has been verified meanwhile. */
export async function reinstateCopy(work: Work, objectId: string, { location, version }: StoredCopy): Promise<void> {
  const { provider, bucket, key } = location;
  await work.runAsSystem(
    `update object_copies set state = 'verified', version = $5, problem = null, verified_at = $6, checked_at = $6, changed_at = $6
     where object_id = $1 and provider = $2 and bucket = $3 and key = $4 and state <> 'verified'`,
    [objectId, provider, bucket, key, version, work.clock.now()],
  );
}

/** Records that a copy is no longer equal to its object, so that it is made again. */
export async function spoilCopy(work: Work, objectId: string, version: string, problem: string): Promise<void> {
  await work.runAsSystem(
    `with spoilt as (update object_copies set state = 'failed', problem = $3, changed_at = $4
       where object_id = $1 and version = $2 and state = 'verified' returning object_id)
     update stored_objects o set copy_due_at = $4 from spoilt where o.id = spoilt.object_id and o.state = 'owned'`,
    [objectId, version, problem, work.clock.now()],
  );
}
