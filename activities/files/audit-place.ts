import { StorageError, type ListedObject, type StorageProvider } from '../clients/storage/provider.ts';
import { objectKey } from '../clients/storage/receiving/upload-keys.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import {
  expectedKeys,
  knownKeys,
  storagePlaces,
  type ExpectedKey,
  type StoragePlace,
} from '#entities/kit/objects/object-audit.ts';
import { spoilCopy } from '#entities/kit/objects/object-copies.ts';
import { readRestorable } from '#entities/kit/objects/object-rows.ts';
import type { AuditedPlace, AuditReport } from '#workflows/files/audit-storage.contract.ts';
import type { StorageWork } from './storage-work.ts';

const pageSize = 1_000;

/** Age below which an object that no row names is left out, in milliseconds: its upload may have been given up just now. */
const unknownAfterMs = 2 * 86_400_000;

/** Most keys that a page names. */
const maxSamples = 100;

export interface AuditedPage {
  readonly rows: number;
  readonly listed: number;
  /** Ids of objects that are not there, or have another size. */
  readonly missing: readonly string[];
  readonly missingCopies: number;
  readonly unknown: number;
  readonly unknownKeys: readonly string[];
  readonly unreachable?: string;
  /** Key after which the next page begins; null at the end of the place. */
  readonly next: string | null;
}

export function placesToAudit(work: StorageWork): Promise<AuditedPlace[]> {
  return work.transact((unit) => storagePlaces(unit));
}

/**
 * Compares a page of the rows of a place with its listing. Both are in the order of their keys. Keys about which they disagree are asked
 * again, because files come and go meanwhile. Nothing is deleted: a database that was restored from an older state does not know the newest
 * files.
 */
export async function auditPage(
  work: StorageWork,
  { place, after }: { readonly place: AuditedPlace; readonly after: string },
): Promise<AuditedPage> {
  const { storage } = work.dependencies;
  const at = place as StoragePlace;
  try {
    // Fails for a disabled provider, whose objects are not served although its bucket can be listed.
    if (place.hasObjects) storage.providerFor(at);
    return await comparePage(work, at, after);
  } catch (error) {
    if (!(error instanceof StorageError) && !(error instanceof AppError && error.code === 'storage_unavailable'))
      throw error;
    const unreachable = `${at.provider} ${at.bucket}: ${error.message}`;
    work.logger.error({ err: error, ...at }, 'a bucket could not be audited');
    return { rows: 0, listed: 0, missing: [], missingCopies: 0, unknown: 0, unknownKeys: [], unreachable, next: null };
  }
}

async function comparePage(work: StorageWork, place: StoragePlace, after: string): Promise<AuditedPage> {
  const { storage } = work.dependencies;
  const provider = storage.providerOfCopy(place);
  const prefix = `${await storage.installation()}/`;
  const listing = await provider.list(prefix, after === '' ? undefined : after);
  const rows = await work.transact((unit) => expectedKeys(unit, place, { after, limit: pageSize }));
  // Both are complete up to here.
  const lastRow = rows.length === pageSize ? rows.at(-1)?.key : undefined;
  const bounds = [lastRow, listing.after].filter((key) => key !== undefined);
  const end = bounds.toSorted(byBytes)[0];
  const within = (key: string) => end === undefined || byBytes(key, end) <= 0;
  const items = listing.items.filter(({ key }) => within(key));
  const expected = rows.filter(({ key }) => within(key));

  const listed = new Map(items.map((item) => [item.key, item]));
  const gone = expected.filter((row) => row.is !== 'other' && listed.get(row.key)?.sizeBytes !== row.sizeBytes);
  const missing: string[] = [];
  let missingCopies = 0;
  for (const row of gone) {
    if (!(await isStillGone(work, provider, row))) continue;
    if (row.is === 'object') missing.push(row.objectId);
    else {
      missingCopies += 1;
      await work.transact((unit) =>
        spoilCopy(unit, row.objectId, row.version ?? '', 'copy: the audit did not find it'),
      );
    }
  }
  const unknown = await unknownAmong(work, items, new Set(expected.map(({ key }) => key)));
  for (const key of unknown.slice(0, maxSamples))
    work.logger.warn({ ...place, key }, 'the audit found a stored object that no row names; it stays');
  return {
    rows: expected.length,
    listed: items.length,
    missing,
    missingCopies,
    unknown: unknown.length,
    unknownKeys: unknown.slice(0, maxSamples),
    next: end ?? null,
  };
}

/** The row may have been removed since it was read, and listings may be older than objects. */
async function isStillGone(work: StorageWork, provider: StorageProvider, row: ExpectedKey): Promise<boolean> {
  const found = await provider.head(row.key);
  if (found?.sizeBytes === row.sizeBytes) return false;
  const object = await work.transact((unit) => readRestorable(unit, row.objectId));
  if (row.is === 'copy') return object?.copy?.isVerified === true && object.copy.version === row.version;
  return object?.location.key === row.key;
}

async function unknownAmong(
  work: StorageWork,
  items: readonly ListedObject[],
  expected: ReadonlySet<string>,
): Promise<string[]> {
  const now = work.dependencies.database.options.clock.now().getTime();
  const suspects = items.filter(
    ({ key, modifiedAt }) => !expected.has(objectKey(key)) && now - modifiedAt.getTime() > unknownAfterMs,
  );
  const known = await work.transact((unit) =>
    knownKeys(
      unit,
      suspects.map(({ key }) => objectKey(key)),
    ),
  );
  return suspects.map(({ key }) => key).filter((key) => !known.has(objectKey(key)));
}

/** The order of providers: by the bytes of UTF-8, which for our keys is that of their characters. */
function byBytes(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

export function reportAudit(work: StorageWork, report: AuditReport): void {
  const { storageMetrics } = work.dependencies;
  storageMetrics.missing.set(report.missing - report.restored);
  storageMetrics.unknown.set(report.unknown);
  const { lost, unknownKeys, ...counts } = report;
  const isFine = report.missing === report.restored && report.unknown === 0 && report.unreachable.length === 0;
  if (isFine) work.logger.info(counts, 'the audit of stored files ended');
  else work.logger.error({ ...counts, lost, unknown_keys: unknownKeys }, 'the audit of stored files found differences');
}
