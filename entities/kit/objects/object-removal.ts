import type { Work } from '../storage/work.ts';
import type { CopyRemains } from './object-copies.ts';
import { locationOf } from './object-rows.ts';
import type { Location } from './stored-object.ts';
import { uploadLinkMs } from './upload-rows.ts';

/** Time for which the bytes of an object stay after its record let go of it, in milliseconds: its deletion may be undone. */
const releasedForMs = 7 * 86_400_000;

/** Time after the expiry of an upload in which a request may still be writing, in milliseconds. */
const expiryGraceMs = 3_600_000;

/** An object that is being removed, with everything that was stored for it. */
export interface RemovableObject {
  readonly id: string;
  readonly location: Location;
  /** Location of its copy, verified or not. */
  readonly copy: Location | undefined;
  readonly remains: CopyRemains;
  /** Data that the provider needs to abort an upload in parts. */
  readonly uploadParts: Readonly<Record<string, string | number>> | undefined;
}

/**
 * Marks what is to be removed: objects that were released seven days ago, and those of uploads that expired before a record took them. From
 * then on no record can own them.
 * @returns how many
 */
export async function markRemovable(work: Work, limit: number): Promise<number> {
  const now = work.clock.now();
  const rows = await work.rowsAsSystem<{ count: number }>(
    `with expired as (
       -- A request that takes the upload locks this row first.
       select u.object_id from uploads u join stored_objects o on o.id = u.object_id
       where u.expires_at <= $2 and u.state <> 'used' and o.state in ('receiving', 'ready')
       order by u.expires_at limit $3 for update of u skip locked),
     unused as (update stored_objects set state = 'removing', released_at = $4
       where id in (select object_id from expired) and state in ('receiving', 'ready') returning 1),
     due as (select id from stored_objects where state = 'released' and released_at <= $1
       order by released_at limit $3 for update skip locked),
     released as (update stored_objects held set state = 'removing' from due where held.id = due.id returning 1)
     select ((select count(*) from unused) + (select count(*) from released))::int as count`,
    [new Date(now.getTime() - releasedForMs), new Date(now.getTime() - expiryGraceMs), limit, now],
  );
  return rows[0]?.count ?? 0;
}

/** Marks one released object, whenever it was released. @returns whether it is one, or is being removed already */
export async function markPurged(work: Work, objectId: string): Promise<boolean> {
  const count = await work.runAsSystem(
    `update stored_objects set state = 'removing' where id = $1 and state in ('released', 'removing')`,
    [objectId],
  );
  return count === 1;
}

/**
 * Objects that are being removed, in the order of their ids; not those of direct uploads whose link may still store bytes.
 * @param only this one, whatever may still come
 */
export async function removablePage(
  work: Work,
  { after, limit, only }: { readonly after: string; readonly limit: number; readonly only?: string | undefined },
): Promise<RemovableObject[]> {
  const rows = await work.rowsAsSystem<
    Location & {
      readonly id: string;
      readonly copy: Location | null;
      readonly remains: CopyRemains | null;
      readonly upload_parts: RemovableObject['uploadParts'] | null;
    }
  >(
    `select o.id, o.provider, o.bucket, o.region, o.key, c.parts_ref as remains,
       (select u.parts_ref from uploads u where u.object_id = o.id and u.parts_ref is not null limit 1) as upload_parts,
       case when c.object_id is not null then jsonb_build_object('provider', c.provider, 'bucket', c.bucket, 'region', c.region, 'key', c.key) end as copy
     from stored_objects o left join object_copies c on c.object_id = o.id
     where o.state = 'removing' and o.id > $1 and ($3::text is null or o.id = $3)
       and ($3 is not null or not exists (
         select 1 from uploads u where u.object_id = o.id and u.route = 'direct' and u.created_at > $4))
     order by o.id limit $2`,
    [after, limit, only ?? null, new Date(work.clock.now().getTime() - uploadLinkMs - expiryGraceMs)],
  );
  return rows.map((row) => ({
    id: row.id,
    location: locationOf(row),
    copy: row.copy ?? undefined,
    remains: row.remains ?? {},
    uploadParts: row.upload_parts ?? undefined,
  }));
}

/** Deletes the rows of objects whose bytes are gone. @returns how many */
export async function deleteRemoved(work: Work, objectIds: readonly string[]): Promise<number> {
  if (objectIds.length === 0) return 0;
  const session = await work.readAs('system');
  const statements = [
    `delete from object_copies where object_id = any($1)`,
    `delete from uploads where object_id = any($1)`,
    `delete from stored_objects where id = any($1) and state = 'removing'`,
  ];
  const results = await Promise.all(statements.map((statement) => session.query(statement, [objectIds])));
  return results.at(-1)?.rowCount ?? 0;
}

/** A direct upload that a record took. */
interface EndedUpload {
  readonly id: string;
  readonly location: Location;
}

/**
 * Direct uploads that records took and whose time is over, in the order of their ids: their links may have stored bytes again, which
 * nobody read.
 */
export async function endedDirectUploads(
  work: Work,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<EndedUpload[]> {
  const rows = await work.rowsAsSystem<Location & { readonly id: string }>(
    `select u.id, o.provider, o.bucket, o.region, o.key from uploads u join stored_objects o on o.id = u.object_id
     where u.route = 'direct' and u.state = 'used' and u.expires_at <= $1 and u.id > $2 order by u.id limit $3`,
    [work.clock.now(), after, limit],
  );
  return rows.map((row) => ({ id: row.id, location: locationOf(row) }));
}

/** Deletes rows of uploads that records took. */
export async function deleteUsedUploads(work: Work, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await work.runAsSystem(`delete from uploads where id = any($1) and state = 'used'`, [ids]);
}

/** Deletes rows that only kept something from being used twice: uploads that a record took, links, and answers to keyed requests. @returns how many */
export async function deleteExpired(work: Work, limit: number): Promise<number> {
  const session = await work.readAs('system');
  const now = work.clock.now();
  const results = await Promise.all([
    session.query(
      `delete from uploads where id in (select id from uploads where state = 'used' and route <> 'direct' and expires_at <= $1 order by expires_at limit $2)`,
      [now, limit],
    ),
    session.query(
      `delete from used_links where nonce in (select nonce from used_links where expires_at <= $1 order by expires_at limit $2)`,
      [now, limit],
    ),
    session.query(
      `delete from idempotent_requests where key in (select key from idempotent_requests where expires_at <= $1 order by expires_at limit $2)`,
      [now, limit],
    ),
  ]);
  return results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
}
