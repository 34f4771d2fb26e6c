import { mebibyte } from '../base/mebibyte.ts';
import type { Work } from '../storage/work.ts';

/** Size of all chunks of an object but its last, in bytes. */
export const chunkBytes = mebibyte;

/** An object in the database. */
interface BlobName {
  readonly namespace: string;
  readonly key: string;
}

/** An object that is being written under a name of its own, which exists once for each key. */
export interface BlobStage extends BlobName {
  /** Drawn at random when the writing begins: a writer with another token writes to nothing. */
  readonly token: string;
}

export interface Blob {
  readonly sizeBytes: number;
  readonly version: string;
}

/** No key has the suffix. */
const staged = (key: string) => `${key}#`;

/** Begins an object. One that was begun before under the same key is discarded. */
export async function beginBlob(work: Work, { namespace, key, token }: BlobStage): Promise<void> {
  await work.runAsSystem('delete from object_chunks where namespace = $1 and key = $2', [namespace, staged(key)]);
  await work.runAsSystem(
    `insert into object_blobs (namespace, key, version) values ($1, $2, $3)
     on conflict (namespace, key) do update set version = excluded.version`,
    [namespace, staged(key), token],
  );
}

/**
 * Writes chunks of an object that was begun, in place of those from `first` until before `next`.
 * @param chunks each but the last of the object of full size
 * @returns false for an object that was not begun, or that was given up
 */
export async function writeChunks(
  work: Work,
  { namespace, key, token }: BlobStage,
  { first, next, chunks }: { readonly first: number; readonly next: number; readonly chunks: AsyncIterable<Buffer> },
): Promise<boolean> {
  // Two writers of one part would otherwise mix their chunks.
  const rowCount = await work.runAsSystem(
    'select 1 from object_blobs where namespace = $1 and key = $2 and version = $3 for update',
    [namespace, staged(key), token],
  );
  if (rowCount === 0) return false;
  await work.runAsSystem(
    'delete from object_chunks where namespace = $1 and key = $2 and number >= $3 and number < $4',
    [namespace, staged(key), first, next],
  );
  let number = first;
  for await (const content of chunks) {
    await work.runAsSystem('insert into object_chunks (namespace, key, number, content) values ($1, $2, $3, $4)', [
      namespace,
      staged(key),
      number,
      content,
    ]);
    number += 1;
  }
  return true;
}

/**
 * Copies chunks of an object into one that was begun.
 * @returns false when the object that is copied is of another version, or does not exist
 */
export async function copyChunks(
  work: Work,
  from: BlobName & { readonly version: string },
  to: BlobStage,
  { first, next }: { readonly first: number; readonly next: number },
): Promise<boolean> {
  const rowCount = await work.runAsSystem(
    'select 1 from object_blobs where namespace = $1 and key = $2 and version = $3 and finished_at is not null for share',
    [from.namespace, from.key, from.version],
  );
  if (rowCount === 0) return false;
  await work.runAsSystem(
    `insert into object_chunks (namespace, key, number, content)
     select $3, $4, number, content from object_chunks where namespace = $1 and key = $2 and number >= $5 and number < $6`,
    [from.namespace, from.key, to.namespace, staged(to.key), first, next],
  );
  return true;
}

/**
 * Gives an object that was begun its key; one with the same key is replaced. Repeating it changes nothing.
 * @returns `missing` for an object that was not begun; `broken` when its chunks are not those of its size
 */
export async function finishBlob(
  work: Work,
  { namespace, key, token }: BlobStage,
  { sizeBytes, version }: Blob,
): Promise<Blob | 'missing' | 'broken'> {
  const rowCount = await work.runAsSystem(
    'select 1 from object_blobs where namespace = $1 and key = $2 and version = $3 for update',
    [namespace, staged(key), token],
  );
  if (rowCount === 0) {
    const finished = await findBlob(work, { namespace, key });
    return finished?.sizeBytes === sizeBytes ? finished : 'missing';
  }
  const count = Math.ceil(sizeBytes / chunkBytes);
  // Parts of a longer object that the new one does not have.
  await work.runAsSystem('delete from object_chunks where namespace = $1 and key = $2 and number > $3', [
    namespace,
    staged(key),
    count,
  ]);
  const rows = await work.rowsAsSystem<{ readonly isWhole: boolean }>(
    `select coalesce(sum(octet_length(content)), 0) = $3 and count(*) = $4
       and coalesce(bool_and(octet_length(content) = $5 or number = $4), true) as "isWhole"
     from object_chunks where namespace = $1 and key = $2`,
    [namespace, staged(key), sizeBytes, count, chunkBytes],
  );
  if (!rows[0]?.isWhole) return 'broken';
  await removeBlobs(work, namespace, [key], { keepsStaged: true });
  const names = [namespace, staged(key), key];
  await work.runAsSystem('update object_chunks set key = $3 where namespace = $1 and key = $2', names);
  await work.runAsSystem(
    'update object_blobs set key = $3, size_bytes = $4, version = $5, finished_at = now() where namespace = $1 and key = $2',
    [...names, sizeBytes, version],
  );
  return { sizeBytes, version };
}

export async function findBlob(work: Work, { namespace, key }: BlobName): Promise<Blob | undefined> {
  const [found] = await work.rowsAsSystem<Blob>(
    `select size_bytes::float8 as "sizeBytes", version from object_blobs
     where namespace = $1 and key = $2 and finished_at is not null`,
    [namespace, key],
  );
  return found;
}

/** Bytes of one chunk. @returns undefined when the object is of another version, or does not exist any more */
export async function readChunk(
  work: Work,
  { namespace, key, version }: BlobName & { readonly version: string },
  { number, start, length }: { readonly number: number; readonly start: number; readonly length: number },
): Promise<Buffer | undefined> {
  const rows = await work.rowsAsSystem<{ readonly content: Buffer }>(
    `select substring(c.content from $5 for $6) as content from object_blobs b join object_chunks c using (namespace, key)
     where b.namespace = $1 and b.key = $2 and b.version = $3 and b.finished_at is not null and c.number = $4`,
    [namespace, key, version, number, start + 1, length],
  );
  return rows[0]?.content;
}

/** Removes objects, and what was begun under their keys. */
export async function removeBlobs(
  work: Work,
  namespace: string,
  keys: readonly string[],
  { keepsStaged = false }: { readonly keepsStaged?: boolean } = {},
): Promise<void> {
  const names = keepsStaged ? keys : [...keys, ...keys.map(staged)];
  for (const table of ['object_chunks', 'object_blobs'])
    await work.runAsSystem(`delete from ${table} where namespace = $1 and key = any($2)`, [namespace, names]);
}

/** Gives up an object that was begun. */
export async function abandonBlob(work: Work, { namespace, key, token }: BlobStage): Promise<void> {
  await work.runAsSystem(
    `with gone as (delete from object_blobs where namespace = $1 and key = $2 and version = $3 returning key)
     delete from object_chunks c using gone where c.namespace = $1 and c.key = gone.key`,
    [namespace, staged(key), token],
  );
}

/** Objects whose key begins with the prefix, in the order of the bytes of their keys. */
export function listBlobs(
  work: Work,
  { namespace, prefix, after, limit }: { namespace: string; prefix: string; after: string; limit: number },
): Promise<readonly { readonly key: string; readonly sizeBytes: number; readonly modifiedAt: Date }[]> {
  return work.rowsAsSystem<{ key: string; sizeBytes: number; modifiedAt: Date }>(
    `select key, size_bytes::float8 as "sizeBytes", finished_at as "modifiedAt" from object_blobs
     where namespace = $1 and starts_with(key, $2) and key collate "C" > $3 and finished_at is not null
     order by key collate "C" limit $4`,
    [namespace, prefix, after, limit],
  );
}
