/**
 * The prefix of a problem in an operation on many records, counted from one: `row 2: `. Empty for an operation on one record.
 * @param path JSON pointer into the input
 */
export function rowPath(path: string): string {
  const [, row] = /^\/(\d+)(?:\/|$)/.exec(path) ?? [];
  return row === undefined ? '' : `row ${Number(row) + 1}: `;
}
