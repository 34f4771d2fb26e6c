import { CsvError, parse, type Parser } from 'csv-parse';
import { refusalOf, refuseDocument } from './csv-problems.ts';
import { maxRowLength, problemOf, wrongWidth, type Delimiter } from './csv-quotes.ts';
import { decodedText } from './csv-text.ts';

export interface CsvRow {
  readonly cells: readonly string[];
  /** Number of its first line; numbers of lines start at 1. */
  readonly line: number;
}

const pieceBytes = 65_536;

/** Characters within which a header ends. */
const maxHeaderLength = 1_000_000;

/**
 * The rows of a document, read as it arrives: no more of it is in memory than a piece and a row. Rows without any value are left out.
 * @param source its bytes, or its text
 * @param maxBytes `ormconfig.maxschemaimportsize`
 * @throws AppError invalid_input for what is no CSV in UTF-8, behind the rows before it; limit_exceeded; the error of the source
 */
export async function* csvRows(source: AsyncIterable<Buffer> | string, maxBytes: number): AsyncGenerator<CsvRow> {
  let head = '';
  let hasBegun = false;
  let reader: RowReader | undefined;
  for await (const text of decodedText(typeof source === 'string' ? piecesOf(source) : source, maxBytes)) {
    if (reader) {
      yield* reader.read(text);
      continue;
    }
    head += text;
    // Each piece is looked at once: a long header without an end would take its length squared.
    const line: string = hasBegun ? text : text.trimStart();
    hasBegun ||= line !== '';
    if (head.length < maxHeaderLength && !/[\r\n]/u.test(line)) continue;
    reader = new RowReader(delimiterOf(head));
    yield* reader.read(head);
  }
  if (!reader) {
    reader = new RowReader(delimiterOf(head));
    yield* reader.read(head);
  }
  yield* reader.end();
}

/** Separator of the cells of a document, found in its header: spreadsheets write what the language of their user has. */
function delimiterOf(head: string): Delimiter {
  const [header = ''] = head.replace(/^[\r\n ]+/u, '').split(/[\r\n]/u, 1);
  return ([',', ';', '\t'] as const).find((delimiter) => header.includes(delimiter)) ?? ',';
}

/** Parses pieces of a document. An error comes after the rows that stand before it. */
class RowReader {
  #rows: CsvRow[] = [];
  #last = 0;
  #failure: unknown;
  /** Of the header: its cells, and those up to the last one with a name. */
  #header: { readonly width: number; readonly named: number } | undefined;
  /** The pieces that do not end before the next row, and where they begin. */
  #unread: Buffer[] = [];
  #unreadAt = 0;
  #nextLine = 1;
  #end = 0;
  readonly #delimiter: Delimiter;
  readonly #parser: Parser;

  constructor(delimiter: Delimiter) {
    this.#delimiter = delimiter;
    this.#parser = parse({
      delimiter,
      // Detected automatically, it would be the line end of the first line only; others would become part of cells.
      record_delimiter: ['\r\n', '\n', '\r'],
      // `#take` counts cells: rows without any value may have fewer or more.
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRowLength,
      // Taken here, rows do not wait in the stream, which loses them when it fails.
      on_record: (cells: string[], { lines, bytes }) => {
        this.#end = bytes;
        this.#nextLine = lines + 1;
        this.#take(cells, lines);
        return null;
      },
    });
    this.#parser.on('error', (error) => {
      this.#failure ??= error;
    });
    this.#parser.resume();
  }

  read(text: string): AsyncGenerator<CsvRow> {
    this.#unread.push(Buffer.from(text));
    return this.#after((done) => this.#parser.write(text, done));
  }

  end(): AsyncGenerator<CsvRow> {
    return this.#after((done) => this.#parser.end(done));
  }

  async *#after(send: (done: (error?: Error | null) => void) => void): AsyncGenerator<CsvRow> {
    const error = await new Promise<unknown>((resolve) => {
      send(resolve);
    });
    this.#forgetRead();
    const rows = this.#rows;
    this.#rows = [];
    yield* rows;
    const failure = this.#failure ?? error;
    if (!failure) return;
    if (!(failure instanceof CsvError)) throw failure;
    const text = Buffer.concat(this.#unread)
      .subarray(this.#end - this.#unreadAt)
      .toString();
    const start = { text, line: this.#nextLine, delimiter: this.#delimiter };
    refuseDocument(problemOf(failure, start));
  }

  #forgetRead(): void {
    let [count, at] = [0, this.#unreadAt];
    for (const { length } of this.#unread) {
      if (at + length > this.#end) break;
      at += length;
      count++;
    }
    if (count > 0) this.#unread.splice(0, count);
    this.#unreadAt = at;
  }

  #take(cells: string[], lines: number): void {
    // A quoted cell can span several lines; the next row begins after it.
    const height = cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
    this.#last = Math.max(this.#last + 1, lines - height);
    const used = cells.findLastIndex((cell) => cell.trim() !== '') + 1;
    if (used === 0 || this.#failure) return;
    this.#header ??= { width: cells.length, named: used };
    const { width, named } = this.#header;
    // Spreadsheets end rows with empty cells that the header does not have, and headers with cells that rows do not have.
    if (cells.length < named || used > width)
      this.#failure = refusalOf(`line ${this.#last}: ${wrongWidth(this.#delimiter)}`);
    else this.#rows.push({ cells: cells.slice(0, width), line: this.#last });
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
