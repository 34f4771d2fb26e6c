import { StorageError } from '../clients/storage/provider.ts';
import { AppError, isAppError, isRefusal } from '#entities/kit/base/errors.ts';
import { uploadPurposes } from '#entities/kit/model/files/upload-purpose.ts';
import { readArrived } from '#entities/kit/objects/arrived-upload.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import type { CheckOutcome } from '#workflows/files/check-upload.contract.ts';
import { couldNot, type StorageWork } from './storage-work.ts';

/**
 * Reads what arrived once, compares it with what was announced, and copies exactly that to the key of the object. Repeating it changes
 * nothing: the bytes that arrived are deleted only when the upload is ready or refused.
 */
export async function checkUpload(work: StorageWork, uploadId: string, signal: AbortSignal): Promise<CheckOutcome> {
  const { database, fileReceiver } = work.dependencies;
  const { clock, registry } = database.options;
  const upload = await work.transact((unit) => readArrived(unit, uploadId));
  if (!upload) return 'gone';
  const { location, owner, declared, purpose, isChecked } = upload;
  const rows = new UploadRows(database);
  try {
    if (!isChecked) {
      const { sha256, ...expected } = declared;
      const hash = sha256 === undefined ? undefined : Buffer.from(sha256, 'hex');
      const limits = fileReceiver.limitsOf(uploadPurposes(registry).get(purpose ?? '')?.rule);
      const checked = await fileReceiver.check(location, { ...expected, sha256: hash }, limits, signal);
      await rows.finish(uploadId, owner, checked, clock.now());
    }
    await fileReceiver.removeIncoming(location);
    return 'ready';
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) {
      await rows.refuse(uploadId, owner, refusal, clock.now());
      await fileReceiver.removeIncoming(location);
      return 'refused';
    }
    if (error instanceof StorageError) throw couldNot('check an upload', error);
    throw error;
  }
}

/** Why the bytes themselves are refused; undefined for a failure that another attempt may not have. */
function refusalOf(error: unknown): AppError | undefined {
  if (isAppError(error) && isRefusal(error)) return error;
  if (error instanceof StorageError && (error.failure === 'changed' || error.failure === 'missing'))
    return new AppError(
      'checksum_mismatch',
      'The bytes of the upload were changed or removed while they were checked.',
      {
        cause: error,
      },
    );
  return undefined;
}
