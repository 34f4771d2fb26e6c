import { CsvError, parse } from 'csv-parse';
import { refuseDocument } from './csv-problems.ts';
import { decodedText } from './csv-text.ts';

export interface CsvRow {
  readonly cells: readonly string[];
  /** Number of its first line; lines count from 1. */
  readonly line: number;
}

/** Bytes of a text that are read at once. */
const pieceBytes = 65_536;

/**
 * The rows of a document, read as it arrives: no more of it is in memory than a piece.
 * @param source its bytes, or its text
 * @param maxBytes `ormconfig.maxschemaimportsize`
 * @throws AppError invalid_input for what is no CSV in UTF-8, behind the rows before it; limit_exceeded; the error of the source
 */
export async function* csvRows(source: AsyncIterable<Buffer> | string, maxBytes: number): AsyncGenerator<CsvRow> {
  const reader = new RowReader();
  for await (const text of decodedText(typeof source === 'string' ? piecesOf(source) : source, maxBytes))
    yield* reader.read(text);
  yield* reader.end();
}

/** Parses pieces of a document. An error comes after the rows that stand before it. */
class RowReader {
  #rows: CsvRow[] = [];
  #last = 0;
  #failure: unknown;
  readonly #parser = parse({
    // Detected automatically, it would be the line end of the first line only; others would become part of cells.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: false,
    skip_empty_lines: true,
    max_record_size: 1_000_000,
    // Taken here, rows do not wait in the stream, which loses them when it fails.
    on_record: (cells: string[], { lines }) => {
      this.#take(cells, lines);
      return null;
    },
  });

  constructor() {
    this.#parser.on('error', (error) => {
      this.#failure ??= error;
    });
    this.#parser.resume();
  }

  read(text: string): AsyncGenerator<CsvRow> {
    return this.#after((done) => this.#parser.write(text, done));
  }

  end(): AsyncGenerator<CsvRow> {
    return this.#after((done) => this.#parser.end(done));
  }

  async *#after(send: (done: (error?: Error | null) => void) => void): AsyncGenerator<CsvRow> {
    const error = await new Promise<unknown>((resolve) => {
      send(resolve);
    });
    const rows = this.#rows;
    this.#rows = [];
    yield* rows;
    const failure = this.#failure ?? error;
    if (!failure) return;
    if (!(failure instanceof CsvError)) throw failure;
    refuseDocument(`line ${Number(failure['lines'] ?? 0)}: ${reasonOf(failure)}`);
  }

  #take(cells: string[], lines: number): void {
    // A quoted cell can span several lines; the next row begins after it.
    const height = cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
    this.#last = Math.max(this.#last + 1, lines - height);
    this.#rows.push({ cells, line: this.#last });
  }
}

/** Characters after which a page ends, however few rows it has: what is made of a page is in memory at once. */
const maxPageLength = 4_000_000;

/** The rows in pages of at most this many. An error comes after the page of the rows before it. */
export async function* csvPages(rows: AsyncIterable<CsvRow>, size: number): AsyncGenerator<readonly CsvRow[]> {
  let page: CsvRow[] = [];
  let length = 0;
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const row of rows) {
      page.push(row);
      length += row.cells.reduce((sum, cell) => sum + cell.length, 0);
      if (page.length < size && length < maxPageLength) continue;
      yield page;
      [page, length] = [[], 0];
    }
  } catch (error) {
    failure = { error };
  }
  if (page.length > 0) yield page;
  if (failure) throw failure.error;
}

async function* piecesOf(text: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

function reasonOf({ code }: CsvError): string {
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH')
    return 'the number of cells differs from the header; quote cells that have commas';
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quoted cell is not closed';
  if (code === 'CSV_MAX_RECORD_SIZE') return 'the row is longer than 1 MB';
  return 'a quotation mark is misplaced; quote the cell and double the quotation marks in it';
}
