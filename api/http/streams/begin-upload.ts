import type { Location } from '#entities/kit/objects/stored-object.ts';
import type { UploadPurpose } from '#entities/kit/model/files/upload-purpose.ts';
import type { UploadOwner } from '#entities/kit/objects/upload-owner.ts';
import type { NewUpload } from '#entities/kit/objects/upload-rows.ts';
import type { Services } from '../services.ts';

/** An upload whose row is there and whose bytes are not. */
interface BegunUpload {
  readonly id: string;
  readonly location: Location;
  readonly at: Date;
  readonly expiresAt: Date;
}

interface UploadToBegin extends Pick<NewUpload, 'route' | 'declared'> {
  /** The field that it is meant for; undefined: not known yet. */
  readonly purpose?: UploadPurpose | undefined;
  /** How long a record can take it, in milliseconds. */
  readonly lifetimeMs: number;
}

/**
 * Writes the row of an upload, before its first byte.
 * @throws AppError body_too_large, file_type_refused, limit_exceeded, storage_disabled
 */
export async function beginUpload(
  { clock, fileReceiver, uploadRows }: Services,
  owner: UploadOwner,
  { purpose, lifetimeMs, ...upload }: UploadToBegin,
): Promise<BegunUpload> {
  fileReceiver.checkDeclared(upload.declared, fileReceiver.limitsOf(purpose?.rule));
  const location = await fileReceiver.newLocation(owner.organizationId);
  const at = clock.now();
  const expiresAt = new Date(at.getTime() + lifetimeMs);
  const { maxUnusedBytes } = fileReceiver;
  const row = { ...upload, owner, location, at, expiresAt, maxUnusedBytes };
  const { uploadId } = await uploadRows.begin(purpose ? { ...row, purpose: purpose.name } : row);
  return { id: uploadId, location, at, expiresAt };
}
