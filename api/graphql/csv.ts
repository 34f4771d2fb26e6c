import { CsvError, parse } from 'csv-parse/sync';
import type { Creation } from '#entities/kit/write/creations.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { AppError, isAppError, maxProblems, type FieldProblem } from '#entities/kit/base/errors.ts';
import { isRequired, writableFields } from '#entities/kit/model/exposure.ts';
import type { Field } from '#entities/kit/model/fields.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { checkRowCount, maxRows } from '#entities/kit/write/change-counters.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';

interface CsvRow {
  readonly cells: readonly string[];
  /** Line on which it begins; the header is on line 1 when nothing stands above it. */
  readonly line: number;
}

interface Column {
  /** As the header has it. */
  readonly title: string;
  readonly name: string;
  readonly field: Field;
}

/** A value that is none of its field, for the check of the data layer to refuse. */
const wrong = Symbol('wrong');

/** For whoever writes such a document. */
export const csvFormat = [
  'It is read as RFC 4180 has it: commas, and quotation marks around cells that hold commas, line breaks or quotation marks.',
  'The first line names fields as this schema does (`dueAt`) or as REST does (`due_at`), in any order.',
  'Items of a list stand with `;` between them, words of a choice in capital or small letters, instants as RFC 3339.',
  'An empty cell leaves its field out.',
].join(' ');

/**
 * Creates records from CSV (`csvFormat`).
 * @returns what `create` returns
 * @throws AppError limit_exceeded; invalid_input and what `create` throws, with line and column of each problem
 */
export async function csvCreations<T>(
  module: EntityModule,
  csv: string,
  create: (creations: readonly Creation[]) => Promise<T>,
): Promise<T> {
  const [header, ...rows] = read(csv);
  if (!header) throw refusal(module, [{ path: '/csv', message: 'line 1: has no header' }]);
  checkRowCount(rows.length, '/csv');
  const columns = columnsOf(module, header);
  const problems: FieldProblem[] = [];
  const creations = rows.map(({ cells, line }, place): Creation => {
    const input = columns.flatMap(({ title, name, field }, index): [string, unknown][] => {
      const cell = cells[index] ?? '';
      if (cell === '') return [];
      const value = valueOf(field, cell);
      if (value !== wrong) return [[name, value]];
      problems.push({ path: `/${place}/${name}`, message: at(line, title, expectation(field)) });
      return [];
    });
    return { module, path: `/${place}`, input: Object.fromEntries(input) };
  });
  if (problems.length > 0) throw refusal(module, problems);
  try {
    return await create(creations);
  } catch (error) {
    throw placed(module, error, rows, columns);
  }
}

function read(csv: string): CsvRow[] {
  try {
    const parsed = parse(csv, {
      bom: true,
      // Found out by itself, it would be that of the first line, and other line ends a part of cells.
      record_delimiter: ['\r\n', '\n', '\r'],
      info: true,
      relax_column_count: false,
      skip_empty_lines: true,
      max_record_size: 1_000_000,
      // The header, and one row more than there may be: that tells that there are too many.
      to: maxRows + 2,
    }) as unknown as { readonly record: readonly string[]; readonly info: { readonly lines: number } }[];
    let last = 0;
    return parsed.map(({ record, info }) => {
      // A quoted cell may go over several lines: what follows begins behind it.
      const height = record.reduce((lines, cell) => lines + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
      last = Math.max(last + 1, info.lines - height);
      return { cells: record, line: last };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = Number(error['lines'] ?? 0);
    throw new AppError('invalid_input', `The CSV cannot be read: line ${line}: ${reasonOf(error)}.`, {
      details: { fields: [{ path: '/csv', message: `line ${line}: ${reasonOf(error)}` }] },
      cause: error,
    });
  }
}

function reasonOf({ code }: CsvError): string {
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') return 'has another number of cells than the header';
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quoted cell does not end';
  if (code === 'CSV_MAX_RECORD_SIZE') return 'is longer than a megabyte';
  return 'a quotation mark stands where none can; cells with quotation marks are quoted, and theirs doubled';
}

function columnsOf(module: EntityModule, header: CsvRow): Column[] {
  const known = writableFields(module);
  const problems: FieldProblem[] = [];
  const say = (message: string) => problems.push({ path: '/csv', message });
  // Told once: to tell of each cell that it is no column takes long where there are many.
  if (header.cells.length > known.length) {
    const message = `line ${header.line}: has ${header.cells.length} cells; there are ${known.length} columns at the most`;
    throw refusal(module, [{ path: '/csv', message }]);
  }
  const columns = header.cells.flatMap((cell): Column[] => {
    const title = cell.trim();
    const wanted = title.toLowerCase();
    const found = known.find(([name]) => name.toLowerCase() === wanted || snakeCase(name) === wanted);
    if (!found) say(at(header.line, title, `is no column; there are ${known.map(([name]) => name).join(', ')}`));
    return found ? [{ title, name: found[0], field: found[1] }] : [];
  });
  for (const [name, field] of known) {
    const count = columns.filter((column) => column.name === name).length;
    if (count > 1) say(at(header.line, name, 'stands there twice'));
    if (count === 0 && isRequired(field)) say(at(header.line, name, 'is missing'));
  }
  if (problems.length > 0) throw refusal(module, problems);
  return columns;
}

function valueOf(field: Field, cell: string): unknown {
  switch (field.type) {
    case 'integer':
      return /^-?\d{1,15}$/.test(cell) ? Number(cell) : wrong;
    case 'boolean':
      return { true: true, false: false }[cell.toLowerCase()] ?? wrong;
    case 'timestamp':
      return parseInstant(cell) ?? wrong;
    case 'choice':
      return cell.toLowerCase();
    case 'textList':
      return cell.split(';').map((item) => item.trim());
    case 'json':
      return parsedJson(cell);
    case 'text':
    case 'reference':
      return cell;
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}

function parsedJson(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return wrong;
  }
}

function expectation({ type }: Field): string {
  if (type === 'integer') return 'must be a whole number';
  if (type === 'boolean') return 'must be true or false';
  return type === 'json' ? 'must be JSON' : 'must be an instant such as 2026-01-31T12:00:00Z';
}

/** An error about fields of rows, told by line and column. */
function placed(module: EntityModule, error: unknown, rows: readonly CsvRow[], columns: readonly Column[]): unknown {
  if (!isAppError(error) || !error.details.fields) return error;
  const fields = error.details.fields.map(({ path, message }): FieldProblem => {
    const [, place = '', name = ''] = path.split('/');
    const title = columns.find((column) => column.name === name)?.title ?? name;
    return { path, message: at(rows[Number(place)]?.line ?? 0, title, message) };
  });
  return new AppError(error.code, summary(module, fields), { details: { fields }, cause: error });
}

function at(line: number, column: string, message: string): string {
  return `line ${line}, column "${column}": ${message}`;
}

function refusal(module: EntityModule, problems: readonly FieldProblem[]): AppError {
  const fields = problems.slice(0, maxProblems);
  return new AppError('invalid_input', summary(module, fields), { details: { fields } });
}

function summary({ typeName }: EntityModule, fields: readonly FieldProblem[]): string {
  return `${typeName}: ${fields.map(({ message }) => message).join('; ')}.`;
}
