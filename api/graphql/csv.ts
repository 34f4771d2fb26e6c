import { CsvError, parse } from 'csv-parse/sync';
import type { Creation } from '#entities/kit/write/creations.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { AppError, isAppError, maxProblems, type FieldProblem } from '#entities/kit/base/errors.ts';
import { isRequired, writableFields } from '#entities/kit/model/exposure.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { expectation, found } from '#entities/kit/base/schema-problem.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import { checkRowCount, maxRows } from '#entities/kit/write/change-counters.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { checkValueCount } from '../http/value-limit.ts';

interface CsvRow {
  readonly cells: readonly string[];
  /** Number of its first line; lines count from 1. */
  readonly line: number;
}

interface Column {
  /** As written in the header. */
  readonly title: string;
  readonly name: string;
  readonly field: Field;
}

/** A cell that is no value of its field. */
class WrongCell {
  /** What is wrong, as the end of a sentence about the cell. */
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The accepted format, for the descriptions of mutations. */
export const csvFormat = [
  'The format is RFC 4180: cells are separated by commas; cells that contain commas, line breaks or quotation marks are quoted.',
  'The first line contains field names as in this schema (`dueAt`) or as in REST (`due_at`), in any order.',
  'List items are separated by `;`, enum values are upper or lower case, timestamps are RFC 3339, days are `2026-01-31`.',
  'An empty cell omits its field.',
].join(' ');

/**
 * Creates records from CSV (`csvFormat`).
 * @param create refuses problems that are already known together with those that it finds
 * @returns what `create` returns
 * @throws AppError limit_exceeded; invalid_input and what `create` throws, with line and column of each problem
 */
export async function csvCreations<T>(
  module: EntityModule,
  csv: string,
  create: (creations: readonly Creation[], known: readonly FieldProblem[]) => Promise<T>,
): Promise<T> {
  const [header, ...rows] = read(csv);
  if (!header) throw refusal(module, [{ path: '/csv', message: 'line 1: the header is missing' }]);
  checkRowCount(rows.length, '/csv');
  const columns = columnsOf(module, header);
  const problems: FieldProblem[] = [];
  const creations = rows.map(({ cells }, index): Creation => {
    const input = columns.flatMap(({ name, field }, column): [string, unknown][] => {
      const cell = cells[column] ?? '';
      if (cell === '') return [];
      const value = valueOf(field, cell);
      if (!(value instanceof WrongCell)) return [[name, value]];
      problems.push({ path: `/${index}/${name}`, message: value.message });
      return [];
    });
    return { module, path: `/${index}`, input: Object.fromEntries(input) };
  });
  checkValueCount(creations.map(({ input }) => input));
  try {
    return await create(creations, problems);
  } catch (error) {
    throw withLines(module, error, rows, columns);
  }
}

function read(csv: string): CsvRow[] {
  try {
    const parsed = parse(csv, {
      bom: true,
      // Detected automatically, it would be the line end of the first line only; others would become part of cells.
      record_delimiter: ['\r\n', '\n', '\r'],
      info: true,
      relax_column_count: false,
      skip_empty_lines: true,
      max_record_size: 1_000_000,
      // The header, and one row more than allowed, so that too many rows are noticed.
      to: maxRows + 2,
    }) as unknown as { readonly record: readonly string[]; readonly info: { readonly lines: number } }[];
    let last = 0;
    return parsed.map(({ record, info }) => {
      // A quoted cell can span several lines; the next row begins after it.
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
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') return 'the number of cells differs from the header';
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quoted cell is not closed';
  if (code === 'CSV_MAX_RECORD_SIZE') return 'the row is longer than 1 MB';
  return 'a quotation mark is misplaced; quote the cell and double the quotation marks in it';
}

function columnsOf(module: EntityModule, header: CsvRow): Column[] {
  const known = writableFields(module);
  const problems: FieldProblem[] = [];
  const say = (message: string) => problems.push({ path: '/csv', message });
  // One problem for the whole line: thousands of unknown cells would take too long to report.
  if (header.cells.length > known.length) {
    const message = `line ${header.line}: the header has ${header.cells.length} cells; at most ${known.length} are possible`;
    throw refusal(module, [{ path: '/csv', message }]);
  }
  const columns = header.cells.flatMap((cell): Column[] => {
    const title = cell.trim();
    const wanted = title.toLowerCase();
    const found = known.find(([name]) => name.toLowerCase() === wanted || snakeCase(name) === wanted);
    if (!found)
      say(at(header.line, title, `is not a known column; known columns are ${known.map(([name]) => name).join(', ')}`));
    return found ? [{ title, name: found[0], field: found[1] }] : [];
  });
  for (const [name, field] of known) {
    const count = columns.filter((column) => column.name === name).length;
    if (count > 1) say(at(header.line, name, 'occurs more than once'));
    if (count === 0 && isRequired(field)) say(at(header.line, name, 'is missing'));
  }
  if (problems.length > 0) throw refusal(module, problems);
  return columns;
}

function valueOf(field: Field, cell: string): unknown {
  switch (field.type) {
    case 'integer':
      return /^-?\d{1,15}$/.test(cell) ? Number(cell) : wrong('integer', cell);
    case 'boolean':
      return { true: true, false: false }[cell.toLowerCase()] ?? wrong('boolean', cell);
    case 'timestamp':
      return parseInstant(cell) ?? wrong('date-time', cell);
    case 'choice':
      return cell.toLowerCase();
    case 'textList':
      return cell.split(';').map((item) => item.trim());
    case 'json':
      return parsedJson(cell);
    case 'text':
    case 'decimal':
    case 'date':
    case 'reference':
    case 'file':
      return cell;
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}

function parsedJson(cell: string): unknown {
  try {
    return parseStrictJson(cell);
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    return new WrongCell(`is not accepted: ${error.message}`);
  }
}

/** @param type a type or a format of JSON Schema */
function wrong(type: string, cell: string): WrongCell {
  return new WrongCell(expectation(type) + found(cell));
}

/** An error about input fields, reported by line and column. */
function withLines(module: EntityModule, error: unknown, rows: readonly CsvRow[], columns: readonly Column[]): unknown {
  if (!isAppError(error) || !error.details.fields) return error;
  const fields = error.details.fields.map(({ path, message }): FieldProblem => {
    const [, index = '', name = ''] = path.split('/');
    const title = columns.find((column) => column.name === name)?.title ?? name;
    return { path, message: at(rows[Number(index)]?.line ?? 0, title, message) };
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
