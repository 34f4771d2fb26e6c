/**
 * Where a problem lies in an operation on many records, for people, who count rows from one: `row 2: `. Nothing where there is
 * but one record. @param path JSON pointer into the input
 */
export function rowPath(path: string): string {
  const [, row] = /^\/(\d+)(?:\/|$)/.exec(path) ?? [];
  return row === undefined ? '' : `row ${Number(row) + 1}: `;
}
