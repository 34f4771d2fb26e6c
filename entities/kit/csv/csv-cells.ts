/** Characters with which a spreadsheet begins a formula, and their full-width forms. */
const formulaStart = String.raw`[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]`;
const startsLikeFormula = new RegExp(`^'*${formulaStart}`);
const startsLikeProtectedFormula = new RegExp(`^'+${formulaStart}`);
const startsFormula = new RegExp(`^${formulaStart}`);

/** Numbers and telephone numbers: no spreadsheet calls anything because of them. */
const plainNumber = /^[+-][\d ./()-]*$/;

/**
 * The cell of a document for a text. A cell that a spreadsheet would run as a formula begins with an apostrophe (OWASP, CSV injection);
 * `plainText` takes it away, so that every text comes back as it was.
 */
export function safeCell(text: string): string {
  return startsLikeFormula.test(text) ? `'${text}` : text;
}

/** The text of a cell. */
export function plainText(cell: string): string {
  return startsLikeProtectedFormula.test(cell) ? cell.slice(1) : cell;
}

/** Whether a spreadsheet would run the cell of somebody else's document. */
export function isFormula(cell: string): boolean {
  return startsFormula.test(cell) && !plainNumber.test(cell);
}

/** A line of a document (RFC 4180), with its end. Every cell is safe. */
export function csvLine(texts: readonly string[]): string {
  return `${texts.map((text) => quoted(safeCell(text))).join(',')}\r\n`;
}

function quoted(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
