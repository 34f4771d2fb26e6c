/** Characters with which a spreadsheet begins a formula, and their full-width forms. */
const formulaStart = String.raw`[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]`;
const startsFormula = new RegExp(`^${formulaStart}`);

/** The cell that empties its field. An empty cell leaves the field out. PostgreSQL writes NULL so, too. */
export const clearingCell = String.raw`\N`;

/**
 * Texts that have another meaning than their letters, whatever apostrophes they begin with: a formula, nothing, and the cell that empties.
 */
const special = String.raw`(?:${formulaStart}|\\N$|$)`;
const isSpecial = new RegExp(`^'*${special}`);
const isProtected = new RegExp(`^'+${special}`);

/** Numbers and telephone numbers: no spreadsheet calls anything because of them. */
const plainNumber = /^[+-][\d ./()-]*$/;

/**
 * The cell of a document for a text. A cell that a spreadsheet would run as a formula begins with an apostrophe (OWASP, CSV injection),
 * and so does what would not be read as a text; `plainText` takes it away, so that every text comes back as it was.
 */
export function safeCell(text: string): string {
  return isSpecial.test(text) ? `'${text}` : text;
}

export function plainText(cell: string): string {
  return isProtected.test(cell) ? cell.slice(1) : cell;
}

/** Whether a spreadsheet would run the cell of somebody else's document. */
export function isFormula(cell: string): boolean {
  return startsFormula.test(cell) && !plainNumber.test(cell);
}

/** Whether a cell of anything but a text empties its field. */
export function isClearing(cell: string): boolean {
  return cell.trim() === clearingCell;
}

/** A line of a document (RFC 4180), with its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function quoted(cell: string): string {
  return /[",;\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
