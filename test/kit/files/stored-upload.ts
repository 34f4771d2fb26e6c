import { hash } from 'node:crypto';
import { callerOf } from '#entities/kit/model/caller.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import type { Person } from '../people.ts';
import type { TestClient } from '../test-client.ts';
import { newUpload } from './uploaded-file.ts';
import type { World } from '../world.ts';

export interface Content {
  readonly bytes?: Buffer;
  readonly name?: string;
  readonly contentType?: string;
}

/** Stores bytes as an upload by a person does. @returns the id of the upload */
export async function storedUpload(
  { runtime, clock }: Pick<World, 'runtime' | 'clock'>,
  { user, organization }: Person,
  { bytes = Buffer.from('Some notes.'), name = 'notes.txt', contentType = 'text/plain' }: Content = {},
): Promise<string> {
  const { database, storage } = runtime;
  const caller = callerOf({ kind: 'user', subjectId: user.id, organizationId: organization.id });
  const location = await storage.newLocation(organization.id);
  const rows = new UploadRows(database);
  const at = clock.now();
  const { uploadId } = await rows.begin(newUpload(caller, { location, at, declared: { name } }));
  const version = await storage.providerFor(location).put(location.key, [bytes], contentType);
  const measured = { sizeBytes: bytes.length, sha256: hash('sha256', bytes, 'buffer'), contentType };
  await rows.finish(uploadId, uploadOwnerOf(caller), { ...measured, version }, at);
  return uploadId;
}

/** A record of the kind `file` whose content is stored. */
export interface FileRecord {
  readonly id: string;
  readonly objectId: string;
}

export async function createFile(
  world: Pick<World, 'runtime' | 'clock'>,
  person: Person,
  client: TestClient,
  content: Content = {},
): Promise<FileRecord> {
  const upload = await storedUpload(world, person, content);
  const { status, body } = await client.post('/v1/files', { content: upload });
  if (status !== 201) throw new Error(`no file: ${JSON.stringify(body)}`);
  return { id: body.id, objectId: body.content.id };
}
