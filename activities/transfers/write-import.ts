import type { Readable } from 'node:stream';
import { workContext } from '../clients/temporal/work-origin.ts';
import { AppError, isAppError, maxProblems, type FieldProblem } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { sizeText } from '#entities/kit/base/mebibyte.ts';
import { checkRows, writeRows } from '#entities/kit/csv/csv-changes.ts';
import { readHeader, type Columns, type CsvTarget } from '#entities/kit/csv/csv-columns.ts';
import { csvPages, csvRows, type CsvRow } from '#entities/kit/csv/csv-rows.ts';
import { refuseDocument, refuseNoRows, wrongRows } from '#entities/kit/csv/csv-problems.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { readObject } from '#entities/kit/objects/read-object.ts';
import { listOfRecord } from '#entities/kit/unit/list-pages.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { import as importKind } from '#entities/index.ts';
import { TransferWork, type Transfer } from './transfer-work.ts';

type Import = RowOf<typeof importKind>;

/** Rows that are checked or written at once. */
const pageSize = 500;

/** Rows that a document can have: they are written in one transaction. */
const maxImportRows = 100_000;

/** Longest duration of the transaction that writes a document, in milliseconds. */
const transactionMs = 3_600_000;

export class ImportWork extends TransferWork<typeof importKind> {
  protected override failureValues(problems: readonly FieldProblem[]): Readonly<Record<string, unknown>> {
    return { problems: problems.map(({ message }) => message), doneRows: 0 };
  }

  protected override failureMessage(message: string): string {
    return `Nothing was imported. ${message}`;
  }
}

/** The parts of a document that are read one after the other. */
interface Document {
  readonly target: CsvTarget;
  readonly columns: Columns;
  readonly pages: AsyncIterable<readonly CsvRow[]>;
}

/**
 * Reads the whole document and checks every cell by itself, so that all problems are reported together before anything is written.
 * @returns whether the work continues
 */
export async function checkImport(work: ImportWork, transfer: Transfer, signal: AbortSignal): Promise<boolean> {
  const state = await stateOf(work, transfer);
  if (!state) return false;
  const { row, caller } = state;
  const { database } = work.dependencies;
  return withDocument(work, row, signal, async ({ target, columns, pages }) => {
    const problems: FieldProblem[] = [];
    let count = 0;
    for await (const rows of told(pages, problems)) {
      count += rows.length;
      if (count > maxImportRows) refuseDocument(`it has more than ${maxImportRows} rows; split it`, 'limit_exceeded');
      const context = { ...workContext(caller, 'import'), readOnly: true };
      problems.push(...(await database.transact(context, (unit) => checkRows(unit.data, target, columns, rows))));
      if (problems.length >= maxProblems) break;
      if (!(await work.report(transfer, { doneRows: count }))) return false;
    }
    if (problems.length > 0) throw wrongRows(target.module, problems.slice(0, maxProblems));
    if (count === 0) refuseNoRows();
    return work.transact(async (unit) => {
      if (!(await work.running(unit, transfer))) return false;
      await unit.data.update(work.kind, row.id, { doneRows: 0, totalRows: count });
      return true;
    });
  });
}

/** The pages up to the first line that cannot be read, which is reported after the problems of the lines before it. */
async function* told(pages: Document['pages'], problems: FieldProblem[]): AsyncGenerator<readonly CsvRow[]> {
  try {
    yield* pages;
  } catch (error) {
    if (!isAppError(error) || error.code !== 'invalid_input' || problems.length === 0) throw error;
    problems.push(...(error.details.fields ?? []));
  }
}

/** Writes all records in one transaction, which also says that the work is done. @returns whether it is */
export async function writeImport(work: ImportWork, transfer: Transfer, signal: AbortSignal): Promise<boolean> {
  const state = await stateOf(work, transfer);
  if (!state) return false;
  const { row, caller } = state;
  const context = { ...workContext(caller, 'import'), deadline: Date.now() + transactionMs };
  const unit = work.dependencies.database.unitOfWork(context);
  try {
    const isComplete = await withDocument(work, row, signal, (document) =>
      writeDocument(work, transfer, { unit, row, caller }, document),
    );
    if (isComplete) await unit.commit();
    else await unit.rollback();
    return isComplete;
  } catch (error) {
    await unit.rollback();
    throw error;
  }
}

interface Writing {
  readonly unit: UnitOfWork;
  readonly row: Import;
  readonly caller: Caller;
}

async function writeDocument(
  work: ImportWork,
  transfer: Transfer,
  { unit, row, caller }: Writing,
  { target, columns, pages }: Document,
): Promise<boolean> {
  let count = 0;
  const held: string[] = [];
  let heldRows = 0;
  for await (const rows of pages) {
    const ids = await writeRows(unit.data, target, columns, rows);
    for (const [index, id] of ids.entries()) {
      const messages = heldIn(unit, id, rows[index]?.line ?? 0);
      if (messages.length > 0) heldRows++;
      held.push(...messages.slice(0, maxProblems - held.length));
    }
    await unit.endPart();
    count += rows.length;
    failpoint('import-page-written');
    refuseLostRights(caller, await work.transact((reading) => work.caller(reading, row)));
    if (!(await work.report(transfer, { doneRows: count }))) return false;
  }
  return work.complete(unit, transfer, count, { heldRows, ...(held.length > 0 ? { problems: held } : {}) });
}

/** Fields of a line of the document that are held, as texts. */
function heldIn({ data }: UnitOfWork, id: string, line: number): string[] {
  return data.heldOf([id]).map(({ field, message }) => `line ${line}: ${field ?? 'the deletion'} is held: ${message}`);
}

/** Writing takes long, and whoever started the work can lose rights meanwhile. @throws AppError permission_denied */
function refuseLostRights(before: Caller, now: Caller): void {
  const isKept = (['groupIds', 'relations', 'limits'] as const).every((name) =>
    (before[name] ?? []).every((held) => now[name]?.includes(held)),
  );
  if (before.role !== now.role || !isKept)
    throw new AppError(
      'permission_denied',
      'Your rights in the organization, or those of your token, have changed while the document was written, so start it again.',
    );
}

function stateOf(work: ImportWork, transfer: Transfer): Promise<{ row: Import; caller: Caller } | undefined> {
  return work.transact(async (unit) => {
    const row = await work.running(unit, transfer);
    return row && { row, caller: await work.caller(unit, row) };
  });
}

/** Opens the document of an import and reads its header. */
async function withDocument<T>(
  work: ImportWork,
  row: Import,
  signal: AbortSignal,
  use: (document: Document) => Promise<T>,
): Promise<T> {
  const { database, storage, config } = work.dependencies;
  const { registry } = database.options;
  const { module } = listOfRecord(registry, work.kind, row);
  const target: CsvTarget = { registry, module, action: row.action };
  const object = await work.transact((unit) => readObject(unit, row.content));
  if (!object) throw new AppError('not_found', 'The document of the import does not exist any more.');
  const { maxschemaimportsize } = config.current.ormconfig;
  if (object.sizeBytes > maxschemaimportsize)
    refuseDocument(`it is larger than ${sizeText(maxschemaimportsize)}; split it`, 'limit_exceeded');
  const source: Readable = await storage.openForRead(object, { signal });
  try {
    const rows = csvRows(source as AsyncIterable<Buffer>, maxschemaimportsize);
    const { value: header } = await rows.next();
    const columns = readHeader(target, header as CsvRow | undefined);
    return await use({ target, columns, pages: csvPages(rows, pageSize) });
  } finally {
    source.destroy();
  }
}
