import { StorageError } from '../clients/storage/provider.ts';
import { incomingKey, tailKey } from '../clients/storage/receiving/upload-keys.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import type { StoragePlace } from '#entities/kit/objects/object-audit.ts';
import {
  deleteExpired,
  deleteRemoved,
  deleteUsedUploads,
  endedDirectUploads,
  markPurged,
  markRemovable,
  removablePage,
  type RemovableObject,
} from '#entities/kit/objects/object-removal.ts';
import type { Location } from '#entities/kit/objects/stored-object.ts';
import { removeUnfinished } from './remove-unfinished.ts';
import type { StorageWork } from './storage-work.ts';

/** Objects of one page: their bytes are deleted with one request for each place. */
const pageSize = 200;

/** Most rows that one statement marks or deletes. */
const maxMarked = 5_000;

/** Marks what is to be removed. @param objectId only this object, whenever it was released @returns whether there may be more */
export async function markFilesForRemoval(work: StorageWork, objectId: string | undefined): Promise<boolean> {
  if (objectId !== undefined) {
    await work.transact((unit) => markPurged(unit, objectId));
    failpoint('remove-marked');
    return false;
  }
  const marked = await work.transact((unit) => markRemovable(unit, maxMarked));
  failpoint('remove-marked');
  const expired = await work.transact((unit) => deleteExpired(unit, maxMarked));
  return marked >= maxMarked || expired >= maxMarked;
}

/**
 * Deletes what links of direct uploads stored after their object was made, and the rows of these uploads. The first page also removes
 * unfinished writes.
 */
export async function removeReplayedUploads(
  work: StorageWork,
  { after }: { readonly after: string },
): Promise<Omit<RemovedPage, 'removed'>> {
  if (after === '') await removeUnfinished(work);
  const ended = await work.transact((unit) => endedDirectUploads(unit, { after, limit: pageSize }));
  const left = await deleteBytes(
    work,
    ended.map(({ id, location }) => ({ id, place: location, keys: [incomingKey(location.key)] })),
  );
  const gone = ended.filter(({ id }) => !left.has(id)).map(({ id }) => id);
  await work.transact((unit) => deleteUsedUploads(unit, gone));
  return { left: left.size, next: nextOf(ended) };
}

export interface RemovedPage {
  readonly removed: number;
  readonly left: number;
  /** After which the next page begins; null at the end. */
  readonly next: string | null;
}

/**
 * Deletes bytes, copies and what was left of unfinished writes, then the rows. Rows stay while bytes may be there, so an attempt after a crash
 * deletes the same bytes again, which is no error.
 */
export async function removeMarkedFiles(
  work: StorageWork,
  { after, objectId }: { readonly after: string; readonly objectId?: string },
): Promise<RemovedPage> {
  const page = await work.transact((unit) => removablePage(unit, { after, limit: pageSize, only: objectId }));
  const left = await deleteBytes(work, page.flatMap(placesOf));
  failpoint('bytes-removed');
  const gone = page.filter(({ id }) => !left.has(id));
  const removed = await work.transact((unit) =>
    deleteRemoved(
      unit,
      gone.map(({ id }) => id),
    ),
  );
  work.dependencies.storageMetrics.removed.inc(removed);
  if (removed > 0) work.logger.info({ removed }, 'files were removed');
  return {
    removed,
    left: page.length - gone.length,
    next: nextOf(page),
  };
}

function nextOf(page: readonly { readonly id: string }[]): string | null {
  return page.length === pageSize ? (page.at(-1)?.id ?? null) : null;
}

interface Stored {
  /** Of the object, or of the upload. */
  readonly id: string;
  readonly place: StoragePlace;
  readonly keys: readonly string[];
  readonly parts?: Readonly<Record<string, string | number>> | undefined;
}

/** Everything that may be stored for an object. */
function placesOf({ id, location, copy, remains, uploadParts }: RemovableObject): Stored[] {
  const at = (one: Location | undefined, parts?: Stored['parts']): Stored[] =>
    one ? [{ id, place: one, keys: [one.key], parts }] : [];
  const { key } = location;
  return [
    { id, place: location, keys: [key, incomingKey(key), tailKey(key)], parts: uploadParts },
    ...at(copy),
    ...at(remains.target, remains.parts?.ref),
    ...at(remains.former),
  ];
}

/** @returns ids of what could not be deleted */
async function deleteBytes(work: StorageWork, all: readonly Stored[]): Promise<Set<string>> {
  const left = new Set<string>();
  const attempt = async (stored: readonly Stored[], what: () => Promise<void>) => {
    try {
      await what();
    } catch (error) {
      if (!(error instanceof StorageError) && !(error instanceof AppError)) throw error;
      for (const { id } of stored) left.add(id);
      work.logger.warn(
        { err: error, place: stored[0] && nameOf(stored[0].place) },
        'files stay until their bytes can be deleted',
      );
    }
  };
  const { storage } = work.dependencies;
  for (const stored of Map.groupBy(all, ({ place }) => nameOf(place)).values()) {
    const { place } = stored[0] as Stored;
    for (const one of stored) {
      const { parts } = one;
      if (parts) await attempt([one], () => storage.providerOfCopy(place).abortParts(parts));
    }
    await attempt(stored, () => storage.providerOfCopy(place).delete([...new Set(stored.flatMap(({ keys }) => keys))]));
  }
  return left;
}

function nameOf({ provider, bucket, region }: StoragePlace): string {
  return JSON.stringify([provider, bucket, region]);
}
