import { readHeader, type CsvTarget } from '#entities/kit/csv/csv-columns.ts';
import { refuseNoRows } from '#entities/kit/csv/csv-problems.ts';
import { writeRows } from '#entities/kit/csv/csv-changes.ts';
import { csvRows, type CsvRow } from '#entities/kit/csv/csv-rows.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';
import { maxRows } from '#entities/kit/write/change-counters.ts';
import { checkNewAddresses } from '../../http/check-new-addresses.ts';
import { checkValueCount } from '../../http/limits/value-limit.ts';
import { requireProofFor, type GivenValues } from '../../credentials/required-proof.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';

/** The accepted format, for the descriptions of mutations. */
export const csvFormat = [
  'The format is RFC 4180 in UTF-8: cells are separated by commas, or by semicolons or tabs where the header has no comma; cells that contain separators, line breaks or quotation marks are quoted.',
  'The first line contains field names as in this schema (`dueAt`) or as in REST (`due_at`), in any order.',
  'A reference can be named by a look-up column instead of its id, such as `assigneeEmail` or `parentDisplayId`.',
  'Columns of values that the server sets are ignored.',
  'List items are separated by `;`, enum values are upper or lower case, timestamps are RFC 3339, days are `2026-01-31`.',
  'An empty cell leaves its field out; \\N empties it. A text that begins like a formula of a spreadsheet needs an apostrophe before it.',
].join(' ');

/**
 * Creates or changes records as a document says, all or none.
 * @returns ids of the records, in the order of the document
 * @throws AppError limit_exceeded; invalid_input and the errors of the data layer, with line and column of each problem
 */
export async function writeCsv(context: GraphqlContext, target: CsvTarget, csv: string): Promise<string[]> {
  const { services, unit } = context;
  const { maxschemaimportsize } = services.config.current.ormconfig;
  const [header, ...rows] = await fewRows(csv, maxschemaimportsize);
  const columns = readHeader(target, header);
  if (rows.length === 0) refuseNoRows();
  const given: GivenValues[] = [];
  const ids = await writeRows(unit.data, target, columns, rows, async (inputs) => {
    checkValueCount(inputs.map(({ input }) => input));
    await checkNewAddresses(services, inputs);
    given.push(...inputs.map(({ module, input }) => ({ module, values: input })));
  });
  await requireProofFor(askingOf(context), given);
  return ids;
}

/** The rows of a document that one operation can write, the header first. Content after too many rows is not read. */
async function fewRows(csv: string, maxBytes: number): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];
  for await (const row of csvRows(csv, maxBytes)) {
    rows.push(row);
    if (rows.length > maxRows + 1)
      throw limitExceeded(
        `One operation can create or change at most ${maxRows} records; split the document, or upload it (createImport).`,
        { path: '/csv', message: `results in more than ${maxRows} records` },
      );
  }
  return rows;
}
