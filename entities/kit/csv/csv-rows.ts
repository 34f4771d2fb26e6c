import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { refuseDocument } from './csv-problems.ts';
import { decodedText } from './csv-text.ts';

export interface CsvRow {
  readonly cells: readonly string[];
  /** Number of its first line; lines count from 1. */
  readonly line: number;
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/**
 * The rows of a document, read as it arrives: no more of it is in memory than a few rows.
 * @param source its bytes, or its text
 * @param maxBytes `ormconfig.maxschemaimportsize`
 * @throws AppError invalid_input for what is no CSV in UTF-8; limit_exceeded; the error of the source
 */
export async function* csvRows(source: AsyncIterable<Buffer> | string, maxBytes: number): AsyncGenerator<CsvRow> {
  const bytes = typeof source === 'string' ? onceOf(Buffer.from(source)) : source;
  const parser = parse({
    // Detected automatically, it would be the line end of the first line only; others would become part of cells.
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    relax_column_count: false,
    skip_empty_lines: true,
    max_record_size: 1_000_000,
  });
  // A failure of the source ends the parser with its error, which the loop below throws.
  pipeline(Readable.from(decodedText(bytes, maxBytes), { objectMode: true }), parser, () => {});
  let last = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<ParsedRow>) {
      // A quoted cell can span several lines; the next row begins after it.
      const height = record.reduce((lines, cell) => lines + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
      last = Math.max(last + 1, info.lines - height);
      yield { cells: record, line: last };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    refuseDocument(`line ${Number(error['lines'] ?? 0)}: ${reasonOf(error)}`);
  } finally {
    parser.destroy();
  }
}

/** The rows in pages of this many. */
export async function* csvPages(rows: AsyncIterable<CsvRow>, size: number): AsyncGenerator<readonly CsvRow[]> {
  let page: CsvRow[] = [];
  for await (const row of rows) {
    page.push(row);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

async function* onceOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function reasonOf({ code }: CsvError): string {
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') return 'the number of cells differs from the header';
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quoted cell is not closed';
  if (code === 'CSV_MAX_RECORD_SIZE') return 'the row is longer than 1 MB';
  return 'a quotation mark is misplaced; quote the cell and double the quotation marks in it';
}
