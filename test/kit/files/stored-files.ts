import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { newId } from '#entities/kit/base/ids.ts';
import { callerOf } from '#entities/kit/model/caller.ts';
import type { Location } from '#entities/kit/objects/stored-object.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import { eventually } from '../eventually.ts';
import { newUpload } from './uploaded-file.ts';
import type { World } from '../world.ts';

/** A file that a record owns, as tests about its bytes need it. */
export interface StoredFile {
  readonly objectId: string;
  readonly uploadId: string;
  readonly ownerId: string;
  /** Caller who uploaded the file. */
  readonly actor: string;
  readonly location: Location;
  readonly content: Buffer;
}

type Installation = Pick<World, 'databaseUrl' | 'runtime' | 'clock'>;

/** Stores bytes as an upload does: rows first, then the bytes. No record owns them yet. */
export async function uploadBytes({ runtime, clock }: Installation, content: Buffer): Promise<StoredFile> {
  const { database, storage } = runtime;
  const rows = new UploadRows(database);
  const location = await storage.newLocation(null);
  const caller = callerOf({ kind: 'user', subjectId: newId(), organizationId: null });
  const at = clock.now();
  const { uploadId, objectId } = await rows.begin(newUpload(caller, { location, at }));
  const version = await storage.providerFor(location).put(location.key, [content], 'text/plain');
  const measured = {
    sizeBytes: content.length,
    sha256: createHash('sha256').update(content).digest(),
    contentType: 'text/plain',
  };
  await rows.finish(uploadId, uploadOwnerOf(caller), { ...measured, version }, at);
  return { objectId, uploadId, ownerId: newId(), actor: uploadOwnerOf(caller).actor, location, content };
}

/** Stores bytes that a record owns; the record is invented. */
export async function storeFile(world: Installation, content: Buffer): Promise<StoredFile> {
  const file = await uploadBytes(world, content);
  await setOwned(world, file, true);
  return file;
}

/** Makes a record own its file, or release it, as a write of the record does. */
export async function setOwned(world: Installation, file: StoredFile, owned: boolean): Promise<void> {
  const { objectId: object, ownerId: id, actor } = file;
  const change = { object, kind: 'task', id, field: 'file', organization: null, owned, actor, at: world.clock.now() };
  await inDatabase(world, 'select write_records($1)', [JSON.stringify({ objects: [change] })]);
}

/** Where the bytes of an object are. */
export async function locationOf(world: Installation, objectId: string): Promise<Location> {
  const [row] = await inDatabase<Location>(
    world,
    'select provider, bucket, region, key from stored_objects where id = $1',
    [objectId],
  );
  if (!row) throw new Error(`there is no object ${objectId}`);
  return row;
}

export interface CopyState extends Location {
  readonly state: string;
  readonly problem: string | null;
  readonly isDue: boolean;
  readonly hasRemains: boolean;
}

/** The row of its copy. */
export async function copyOf(
  world: Installation,
  { objectId }: Pick<StoredFile, 'objectId'>,
): Promise<CopyState | undefined> {
  const rows = await inDatabase<CopyState>(
    world,
    `select c.state, c.provider, c.bucket, c.region, c.key, c.problem, o.copy_due_at is not null as "isDue", c.parts_ref is not null as "hasRemains"
     from object_copies c join stored_objects o on o.id = c.object_id where o.id = $1`,
    [objectId],
  );
  return rows[0];
}

/** Waits until a file has a verified copy and nothing is left to do for it. */
export function untilCopied(world: Installation, file: Pick<StoredFile, 'objectId'>): Promise<CopyState> {
  return eventually(async () => {
    const copy = await copyOf(world, file);
    return copy?.state === 'verified' && !copy.isDue && !copy.hasRemains && copy;
  });
}

/** The state of its row; undefined when there is none. */
export async function objectState(
  world: Installation,
  { objectId }: Pick<StoredFile, 'objectId'>,
): Promise<string | undefined> {
  const rows = await inDatabase<{ readonly state: string }>(world, 'select state from stored_objects where id = $1', [
    objectId,
  ]);
  return rows[0]?.state;
}

/** Runs a statement past row-level security. */
export async function inDatabase<Row>(
  { databaseUrl }: Pick<World, 'databaseUrl'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(text, [...values]);
    return rows as Row[];
  } finally {
    await client.end();
  }
}
