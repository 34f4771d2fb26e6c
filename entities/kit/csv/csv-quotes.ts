import type { CsvError } from 'csv-parse';

export type Delimiter = ',' | ';' | '\t';

export const maxRowLength = 1_000_000;

/** The rest of a document from the beginning of a row on. */
interface Rest {
  readonly text: string;
  /** Number of its first line. */
  readonly line: number;
  readonly delimiter: Delimiter;
}

const names: Readonly<Record<Delimiter, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

export function wrongWidth(delimiter: Delimiter): string {
  return `the number of cells differs from the header; quote cells that have ${names[delimiter]}`;
}

/** Problem of a row that cannot be read, with the line of the quotation mark that causes it: the error shows only where it ends. */
export function problemOf({ code }: CsvError, rest: Rest): string {
  const { line, isOpen } = lastQuotation(rest);
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `line ${line}: a quoted cell begins here and is not closed`;
  if (code === 'CSV_MAX_RECORD_SIZE')
    return isOpen
      ? `line ${line}: a quoted cell begins here and is not closed within 1 MB`
      : `line ${rest.line}: the row is longer than 1 MB`;
  return `line ${line}: a quotation mark is misplaced; quote the cell and double the quotation marks in it`;
}

/** Where the last quotation begins before the first one that is misplaced, and whether it is not closed. */
function lastQuotation({ text, line: first, delimiter }: Rest): { readonly line: number; readonly isOpen: boolean } {
  const cellEnd = new RegExp(`[${delimiter}\\r\\n]`, 'gu');
  let line = first;
  let opened = first;
  for (let at = 0; at < text.length;) {
    if (text[at] === '"') {
      opened = line;
      const end = endOfQuotation(text, at);
      if (end === undefined) return { line: opened, isOpen: true };
      line += text.slice(at, end).match(/\r\n|\r|\n/gu)?.length ?? 0;
      at = end;
    }
    cellEnd.lastIndex = at;
    const next = cellEnd.exec(text)?.index ?? text.length;
    const between = text.slice(at, next);
    if (between.includes('"')) return { line, isOpen: false };
    // Behind a closing mark, nothing may stand.
    if (between !== '' && text[at - 1] === '"') return { line: opened, isOpen: false };
    if (text[next] === '\n' || (text[next] === '\r' && text[next + 1] !== '\n')) line++;
    at = next + 1;
  }
  return { line: opened, isOpen: false };
}

/** Index behind the mark that closes the quotation which begins here. */
function endOfQuotation(text: string, start: number): number | undefined {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at + 1;
  return undefined;
}
