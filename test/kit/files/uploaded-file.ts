import { createHash, randomBytes } from 'node:crypto';
import { newId } from '#entities/kit/base/ids.ts';
import { acceptedTypes } from '#entities/kit/model/files/accepted-types.ts';
import { callerOf, type Caller } from '#entities/kit/model/caller.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import type { Location } from '#entities/kit/objects/stored-object.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { UploadRows, type NewUpload } from '#entities/kit/objects/upload-rows.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

/** A location of which no provider has bytes, for tests about rows alone. */
export function locationOfNothing(): Location {
  return { provider: 'disk', bucket: 'files', region: '', key: `test/--/${randomBytes(16).toString('hex')}` };
}

/** The row of a new upload by this caller. */
export function newUpload(caller: Caller, more: Partial<NewUpload> = {}): NewUpload {
  const at = more.at ?? new Date();
  return {
    route: 'multipart',
    owner: uploadOwnerOf(caller),
    declared: { name: 'notes.txt' },
    location: locationOfNothing(),
    at,
    expiresAt: new Date(at.getTime() + 3_600_000),
    ...more,
  };
}

/** An upload by this caller that a record can take. Its rows are those of a real upload; no provider has its bytes. @returns its id */
export async function readyUpload(
  database: Database,
  caller: Caller,
  { content = 'Some notes.', contentType = 'text/plain', ...more }: FileOptions = {},
): Promise<string> {
  const rows = new UploadRows(database);
  const upload = newUpload(caller, more);
  const { uploadId } = await rows.begin(upload);
  await rows.finish(
    uploadId,
    upload.owner,
    {
      sizeBytes: Buffer.byteLength(content),
      sha256: createHash('sha256').update(content).digest(),
      contentType,
      version: 'v1',
    },
    upload.at,
  );
  return uploadId;
}

export interface FileOptions extends Partial<NewUpload> {
  readonly content?: string;
  readonly contentType?: string;
}

/** An upload by a person who acts in their organization. @returns its id */
export function uploadBy(
  { runtime, clock }: Pick<World, 'runtime' | 'clock'>,
  { user, organization }: Pick<Person, 'user' | 'organization'>,
  options: FileOptions = {},
): Promise<string> {
  const caller = callerOf({ kind: 'user', subjectId: user.id, organizationId: organization.id });
  return readyUpload(runtime.database, caller, { at: clock.now(), ...options });
}

/** An upload that a file field accepts. */
export function uploadFor(
  { runtime, clock }: Pick<World, 'runtime' | 'clock'>,
  caller: Caller,
  { file }: Field,
): Promise<string> {
  const [contentType = ''] = file ? acceptedTypes(file) : [];
  // No two organizations have files of one name.
  const declared = { name: `${newId()}.txt` };
  return readyUpload(runtime.database, caller, { at: clock.now(), contentType, declared });
}
