import { Readable } from 'node:stream';
import { workContext } from '../clients/temporal/work-origin.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { sizeText } from '#entities/kit/base/mebibyte.ts';
import { csvLine } from '#entities/kit/csv/csv-cells.ts';
import { cellOfValue } from '#entities/kit/csv/csv-values.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import {
  exportPosition,
  keepExportPage,
  readExportPage,
  removeExportPages,
  type ExportPosition,
} from '#entities/transfers/export-page-rows.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import { listOfRecord, pageOfList, type DescribedList } from '#entities/kit/unit/list-pages.ts';
import { export as exportKind } from '#entities/index.ts';
import type { Transfer, TransferWork } from './transfer-work.ts';

type Export = RowOf<typeof exportKind>;
export type ExportWork = TransferWork<typeof exportKind>;

/** Records of a page, at most. */
const maxPageSize = 1_000;

/** Time in which an upload must become the document of its export, in milliseconds. */
const uploadLifetimeMs = 86_400_000;

/** Time for which a document is kept, in milliseconds. */
const documentLifetimeMs = 7 * 86_400_000;

/** A mark at the beginning, without which spreadsheets take the document for Latin-1. */
const byteOrderMark = '\uFEFF';

/**
 * Writes the pages that are missing. Each is read with the rights that the person has then, and kept in a transaction of its own, so an
 * attempt continues where the previous one stopped.
 * @returns whether all pages are there
 * @throws AppError limit_exceeded as soon as the document is larger than a file can be
 */
export async function writeExportPages(work: ExportWork, transfer: Transfer, signal: AbortSignal): Promise<boolean> {
  let size = maxPageSize;
  for (;;) {
    signal.throwIfAborted();
    const state = await stateOf(work, transfer);
    if (!state) return false;
    const { row, caller, position } = state;
    if (position && position.next === null) return true;
    let page: ReadPage;
    try {
      page = await readPage(work, row, caller, { position, size });
    } catch (error) {
      // Long records: together they are larger than an answer can be.
      if (size === 1 || !isAppError(error) || error.code !== 'limit_exceeded') throw error;
      size = Math.ceil(size / 2);
      continue;
    }
    refuseTooLarge(work, page, position, row);
    const number = (position?.pages ?? 0) + 1;
    await work.transact((unit) => keepExportPage(unit, { ...page, exportId: row.id, runId: transfer.runId, number }));
    failpoint('export-page-kept');
    const doneRows = (position?.rows ?? 0) + page.rows;
    const totalRows = page.total === undefined ? {} : { totalRows: page.total };
    if (!(await work.report(transfer, { doneRows, ...totalRows }))) return false;
  }
}

function refuseTooLarge(
  { dependencies: { fileReceiver }, kind }: ExportWork,
  page: ReadPage,
  position: ExportPosition | undefined,
  { totalRows }: Export,
): void {
  const { maxBytes } = fileReceiver.limitsOf(kind.fields.content.file);
  if ((position?.bytes ?? 0) + page.bytes.length <= maxBytes) return;
  const rows = (position?.rows ?? 0) + page.rows;
  const all = page.total ?? totalRows;
  const about = all === null ? `${rows} records` : `${rows} of ${all} records`;
  throw new AppError(
    'limit_exceeded',
    `The document is larger than a file can be: ${about} have more than ${sizeText(maxBytes)} (objectstorage.maxsizemb). Export fewer records at a time with filters, or fewer fields with fields.`,
  );
}

interface ReadPage {
  readonly bytes: Buffer;
  readonly rows: number;
  readonly next: string | null;
  /** Only of the first page. */
  readonly total?: number;
}

async function readPage(
  { dependencies, kind }: ExportWork,
  row: Export,
  caller: Caller,
  { position, size }: { readonly position: ExportPosition | undefined; readonly size: number },
): Promise<ReadPage> {
  const list = listOfRecord(dependencies.database.options.registry, kind, row);
  const context = { ...workContext(caller, 'export'), readOnly: true };
  const page = await dependencies.database.transact(context, (unit) =>
    pageOfList(unit.data, list, { size, after: position?.next ?? undefined }),
  );
  const { records, next, total } = page;
  const isFirst = position === undefined;
  const texts = row.format === 'csv' ? csvTexts(list, records, isFirst) : jsonTexts(list, records, position);
  return { bytes: Buffer.from(texts.join('')), rows: records.length, next, ...(total === undefined ? {} : { total }) };
}

type Records = readonly Readonly<Record<string, unknown>>[];

function csvTexts({ module, fields }: DescribedList, records: Records, isFirst: boolean): string[] {
  const lines = records.map((record) =>
    csvLine(
      fields.map((name) => cellOfValue(module.fields[name] ?? { type: 'text', default: undefined }, record[name])),
    ),
  );
  return isFirst ? [byteOrderMark, csvLine(fields), ...lines] : lines;
}

function jsonTexts({ fields }: DescribedList, records: Records, position: ExportPosition | undefined): string[] {
  return records.map((record, index) => {
    const separator = index > 0 || (position?.rows ?? 0) > 0 ? ',\n' : '';
    return separator + JSON.stringify(Object.fromEntries(fields.map((name) => [name, record[name]])));
  });
}

/** Start of a step; undefined when the export is not running any more. */
function stateOf(work: ExportWork, transfer: Transfer) {
  return work.transact(async (unit) => {
    const row = await work.running(unit, transfer);
    if (!row) return undefined;
    return { row, caller: await work.caller(unit, row), position: await exportPosition(unit, transfer.runId) };
  });
}

/** Stores the document as a file of the person, gives it to the export, and removes the pages. @returns whether the export is complete */
export async function storeExport(work: ExportWork, transfer: Transfer): Promise<boolean> {
  const { dependencies, kind } = work;
  const { database, fileReceiver } = dependencies;
  const { clock } = database.options;
  const state = await stateOf(work, transfer);
  if (!state) return false;
  const { row, caller, position } = state;
  const owner = uploadOwnerOf(caller);
  const location = await fileReceiver.newLocation(row.organizationId);
  const declared = { name: `${nameOf(row, clock.now())}.${row.format}`, type: typeOf(row) };
  const uploads = new UploadRows(database);
  const at = clock.now();
  const expiresAt = new Date(at.getTime() + uploadLifetimeMs);
  const { uploadId } = await uploads.begin({ route: 'multipart', owner, declared, location, at, expiresAt });
  const source = Readable.from(documentBytes(work, transfer, row), { objectMode: false });
  const { version, ...measured } = await fileReceiver.receive(
    source,
    { location, owner },
    declared,
    fileReceiver.limitsOf(kind.fields.content.file),
  );
  await uploads.finish(uploadId, owner, { ...measured, version }, clock.now());
  failpoint('export-stored');
  const unit = database.unitOfWork(workContext(caller, 'export'));
  try {
    await unit.data.update(exportKind, row.id, { content: uploadId });
    const expiry = { expiresAt: new Date(clock.now().getTime() + documentLifetimeMs) };
    const isComplete = await work.complete(unit, transfer, position?.rows ?? 0, expiry);
    if (!isComplete) {
      await unit.rollback();
      return false;
    }
    await removeExportPages(unit, transfer.runId);
    await unit.commit();
    return true;
  } catch (error) {
    await unit.rollback();
    throw error;
  }
}

function nameOf({ recordKind }: Export, at: Date): string {
  return `${snakeCase(recordKind).replaceAll('_', '-')}-export-${at.toISOString().slice(0, 10)}`;
}

function typeOf({ format }: Export): string {
  return format === 'csv' ? 'text/csv' : 'application/json';
}

async function* documentBytes(work: ExportWork, { runId }: Transfer, { format }: Export): AsyncGenerator<Buffer> {
  if (format === 'json') yield Buffer.from('[\n');
  for (let number = 1; ; number++) {
    const bytes = await work.transact((unit) => readExportPage(unit, runId, number));
    if (!bytes) break;
    if (bytes.length > 0) yield bytes;
  }
  if (format === 'json') yield Buffer.from('\n]\n');
}
