import { DifferentBytesError, differenceOf, versionOfEqual } from '../clients/storage/compare-bytes.ts';
import { StorageError } from '../clients/storage/provider.ts';
import { transferObject } from '../clients/storage/transfer-object.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import {
  beginCopy,
  failCopy,
  saveCopyRemains,
  settleCopy,
  verifyCopy,
  type CopyAttempt,
  type CopyInProgress,
  type CopyRemains,
} from '#entities/kit/objects/object-copies.ts';
import { isSameLocation, readRestorable } from '#entities/kit/objects/object-rows.ts';
import type { Location } from '#entities/kit/objects/stored-object.ts';
import type { BackupOutcome } from '#workflows/files/backup-file.contract.ts';
import { couldNot, type StorageWork } from './storage-work.ts';

/** Another attempt copies the object now, or it was removed. */
class SupersededError extends Error {
  override readonly name = 'SupersededError';
}

/** The copy cannot be made, or is not equal. */
class UnfitCopyError extends Error {
  override readonly name = 'UnfitCopyError';
}

/**
 * Copies an object, reads the copy back and compares it; only then the copy is valid. An attempt continues with the parts that an earlier
 * one stored. A copy that is equal is never written over: its replacement has another place, and it is deleted when the replacement is
 * verified.
 */
export async function copyObject(work: StorageWork, objectId: string, signal: AbortSignal): Promise<BackupOutcome> {
  const begun = await begin(work, objectId);
  if (!begun) return 'unneeded';
  const { copy, place } = begun;
  const attempt: CopyAttempt = { objectId, attempt: copy.attempt };
  const fail = async (problem: string) => {
    await work.transact((unit) => failCopy(unit, attempt, problem));
    work.dependencies.storageMetrics.copies.inc({ outcome: 'failed' });
    const { organizationId } = copy.object;
    work.logger.error({ object_id: objectId, organization_id: organizationId, problem }, 'a file was not copied');
  };
  try {
    const outcome = await copyTo(work, place, copy, attempt, signal);
    work.dependencies.storageMetrics.copies.inc({ outcome });
    return outcome;
  } catch (error) {
    if (error instanceof SupersededError) return 'superseded';
    if (error instanceof DifferentBytesError || error instanceof UnfitCopyError) {
      await fail(`${error instanceof UnfitCopyError ? 'copy' : 'source'}: ${error.message}`);
      return 'failed';
    }
    if (!(error instanceof StorageError) || signal.aborted) throw error;
    await fail(error.message);
    throw couldNot('copy a file', error);
  }
}

async function begin(
  work: StorageWork,
  objectId: string,
): Promise<{ readonly copy: CopyInProgress; readonly place: Location } | undefined> {
  return work.transact(async (unit) => {
    const object = await readRestorable(unit, objectId);
    const target = object && work.dependencies.storage.copyTarget(object.location);
    if (!target) return undefined;
    const copy = await beginCopy(unit, objectId, target);
    return copy && { copy, place: { ...target, key: copy.object.location.key } };
  });
}

async function copyTo(
  work: StorageWork,
  place: Location,
  copy: CopyInProgress,
  attempt: CopyAttempt,
  signal: AbortSignal,
): Promise<'verified'> {
  const { object, known, remains } = copy;
  if (isSameLocation(place, object.location))
    throw new UnfitCopyError('it would be the object itself; set another bucket or another provider for backups');
  const isOwn = remains.target !== undefined && isSameLocation(remains.target, place);
  if (remains.former) await work.discard(remains.former);
  // Parts that an earlier attempt wrote to a place that is no longer wanted.
  if (remains.target && !isOwn) await work.discard(remains.target, remains.parts?.ref);
  const isThere = known !== undefined && isSameLocation(known.location, place);
  const isSettled = isThere && known.isVerified && known.location.region === place.region;
  if (!isSettled) {
    const destination = work.dependencies.storage.providerOfCopy(place);
    // It may be as good as it was: its bucket could not be read for a while, or is reached by another region now.
    const equal = isThere ? await versionOfEqual(destination, place.key, object, signal) : undefined;
    const version = equal ?? (await makeCopy(work, place, copy, attempt, signal));
    const former = isThere ? undefined : known?.location;
    if (!(await work.transact((unit) => verifyCopy(unit, attempt, { location: place, version }, former)))) {
      // Where another attempt is writing, its bytes stay.
      if (!(await work.transact((unit) => readRestorable(unit, object.id)))) await work.discard(place);
      throw new SupersededError();
    }
    failpoint('copy-verified');
    if (!former) return 'verified';
    await work.discard(former);
  }
  await work.transact((unit) => settleCopy(unit, attempt));
  return 'verified';
}

/** Writes the copy and reads it back. @returns its version */
async function makeCopy(
  work: StorageWork,
  place: Location,
  { object, remains }: CopyInProgress,
  attempt: CopyAttempt,
  signal: AbortSignal,
): Promise<string> {
  const isOwn = remains.target !== undefined && isSameLocation(remains.target, place);
  const save = async (next: CopyRemains, copiedBytes: number) => {
    if (!(await work.transact((unit) => saveCopyRemains(unit, attempt, { remains: next, copiedBytes }))))
      throw new SupersededError();
  };
  if (!isOwn) await save({ target: place }, 0);
  const { storage } = work.dependencies;
  const destination = storage.providerOfCopy(place);
  const version = await transferObject({
    from: { provider: storage.providerFor(object.location), key: object.location.key, version: object.version },
    to: { provider: destination, key: place.key },
    expected: object,
    progress: isOwn ? remains.parts : undefined,
    save: (parts) =>
      save({ target: place, ...(parts ? { parts } : {}) }, parts ? parts.tags.length * parts.partBytes : 0),
    signal,
  });
  failpoint('copy-written');
  const difference = await differenceOf(destination, place.key, object, { version, signal });
  if (difference === undefined) return version;
  // Only the current attempt deletes: the object there may already be the copy of its successor.
  await save({ target: place }, 0);
  await work.discard(place);
  throw new UnfitCopyError(`it was read back, but ${difference}`);
}
