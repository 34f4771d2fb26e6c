import { AppError, isAppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import { inputError } from '../base/input-error.ts';
import { isId } from '../base/ids.ts';
import { found } from '../base/schema-problem.ts';
import type { EntityModule } from '../model/define.ts';
import { validateChanges, validateCreations } from '../model/input.ts';
import type { DataClient } from '../unit/data-client.ts';
import type { Creation } from '../write/creations.ts';
import { isClearing, plainText } from './csv-cells.ts';
import { updateAdvice, type Columns, type CsvTarget } from './csv-columns.ts';
import { recordWord, resolveCells, type LookupCell } from './csv-lookups.ts';
import { withLines } from './csv-lines.ts';
import type { CsvRow } from './csv-rows.ts';
import { isEmptyCell, valueOfCell, WrongCell } from './csv-values.ts';

type Values = Record<string, unknown>;

/** Changes of records that the rows of a document describe. Paths of problems begin with the number of the row in the list. */
interface ReadRows {
  readonly inputs: readonly Values[];
  /** Columns that identify the record to change, where the document changes records. */
  readonly keys: readonly string[];
  readonly problems: readonly FieldProblem[];
  readonly lookups: readonly (LookupCell & { readonly index: number; readonly name: string })[];
}

/** Reads the cells of rows. An empty cell omits its field; `clearingCell` empties it. */
export function readCells({ columns, key }: Columns, rows: readonly CsvRow[]): ReadRows {
  const problems: FieldProblem[] = [];
  const lookups: (LookupCell & { readonly index: number; readonly name: string })[] = [];
  const inputs = rows.map(({ cells }, index) => {
    const input: Values = {};
    for (const [place, column] of columns.entries()) {
      const cell = cells[place] ?? '';
      if (column.is === 'ignored' || column.is === 'key') continue;
      const { name } = column;
      if (column.is === 'blank') {
        const message = `column ${place + 1} has a value but no name; name it in the header`;
        if (cell.trim() !== '') problems.push({ path: `/${index}/${name}`, message });
        continue;
      }
      if (isEmptyCell(column.field, cell)) continue;
      if (column.is === 'lookup' && !isClearing(cell)) {
        lookups.push({ lookup: column.lookup, text: plainText(cell).trim(), index, name });
        continue;
      }
      const value = valueOfCell(column.field, cell);
      if (value instanceof WrongCell) problems.push({ path: `/${index}/${name}`, message: value.message });
      else input[name] = value;
    }
    return input;
  });
  return {
    inputs,
    problems,
    lookups,
    keys: key < 0 ? [] : rows.map(({ cells }) => plainText(cells[key] ?? '').trim()),
  };
}

/** Puts the ids of the records that cells name into the inputs. @returns all problems */
async function resolve(data: DataClient, { inputs, lookups, problems }: ReadRows): Promise<FieldProblem[]> {
  const resolved = await resolveCells(data, lookups);
  const unresolved = lookups.flatMap(({ index, name }, place): FieldProblem[] => {
    const result = resolved[place];
    if (result && 'problem' in result) return [{ path: `/${index}/${name}`, message: result.problem }];
    Object.assign(inputs[index] as Values, { [name]: result?.id });
    return [];
  });
  return [...problems, ...unresolved];
}

/** Checks before anything is written, in addition to those of the data layer. */
type CheckInputs = (inputs: readonly Creation[]) => Promise<void>;

/**
 * Creates or changes the records of some rows, all or none.
 * @returns ids of the records, in the order of the rows
 * @throws AppError invalid_input and the errors of the data layer, with line and column of each problem
 */
export async function writeRows(
  data: DataClient,
  target: CsvTarget,
  columns: Columns,
  rows: readonly CsvRow[],
  check: CheckInputs = async () => {},
): Promise<string[]> {
  const { module, action } = target;
  try {
    const read = readCells(columns, rows);
    const problems = await resolve(data, read);
    const inputs = read.inputs.map((input, index): Creation => ({ module, path: `/${index}`, input }));
    await check(inputs);
    if (action === 'update') return await changeRows(data, target, columns, read, problems);
    const made = await data.createAll(inputs, problems);
    return made.map(({ id }) => id as string);
  } catch (error) {
    const placed = withLines(module, error, columns, (index) => rows[index]);
    throw isAppError(placed) && placed.code === 'already_exists' ? advised(placed, target) : placed;
  }
}

function advised({ code, message, details, cause }: AppError, target: CsvTarget): AppError {
  return new AppError(code, message + updateAdvice(target), { details, cause });
}

/**
 * Checks each cell of some rows by itself, and finds the records that look-up columns name. It writes nothing.
 * @returns all problems, with line and column, in the order of the document
 */
export async function checkRows(
  data: DataClient,
  { module, action }: CsvTarget,
  columns: Columns,
  rows: readonly CsvRow[],
): Promise<readonly FieldProblem[]> {
  const read = readCells(columns, rows);
  const known = await resolve(data, read);
  const values = read.inputs.map((input, index) => ({ module, path: `/${index}`, input }));
  const problems =
    action === 'create'
      ? problemsOf(() => validateCreations(values, known))
      : [...known, ...values.flatMap(({ path, input }) => problemsOf(() => validateChanges(module, input), path))];
  // The data layer sets whoever creates a record.
  const own = problems.filter(({ path }) => !module.fields[path.split('/')[2] ?? '']?.creator);
  if (own.length === 0) return [];
  const placed = withLines(module, inputError(own), columns, (index) => rows[index]) as AppError;
  return placed.details.fields ?? [];
}

function problemsOf(check: () => unknown, path = ''): FieldProblem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!isAppError(error) || error.code !== 'invalid_input') throw error;
    return (error.details.fields ?? []).map((problem) => ({ ...problem, path: `${path}${problem.path}` }));
  }
}

async function changeRows(
  data: DataClient,
  { module }: CsvTarget,
  { columns, key }: Columns,
  { inputs, keys }: ReadRows,
  known: readonly FieldProblem[],
): Promise<string[]> {
  const name = columns[key]?.name ?? 'id';
  const problems = [...known];
  const ids = await idsOf(data, module, name, keys);
  const seen = new Set<string>();
  for (const [index, id] of ids.entries()) {
    const say = (message: string) => problems.push({ path: `/${index}/${name}`, message });
    if ((keys[index] ?? '') === '') say('is empty; it says which record changes');
    else if (id === undefined) say(`names no ${recordWord(module)}${found(keys[index])}`);
    else if (seen.has(id)) say('occurs more than once; a document changes a record once');
    if (id !== undefined) seen.add(id);
  }
  await data.lockAll([{ module, ids: [...seen], operation: 'edit', values: Object.assign({}, ...inputs) as Values }]);
  for (const [index, id] of ids.entries()) {
    if (id === undefined || problems.length >= maxProblems) continue;
    problems.push(...(await changeProblems(data, module, { id, index, name, input: inputs[index] as Values })));
  }
  if (problems.length > 0) throw inputError(problems);
  return ids as string[];
}

interface RowChange {
  readonly id: string;
  readonly index: number;
  /** The column that names the record. */
  readonly name: string;
  readonly input: Values;
}

/** Changes a record. @returns what is wrong with the change */
async function changeProblems(
  data: DataClient,
  module: EntityModule,
  { id, index, name, input }: RowChange,
): Promise<FieldProblem[]> {
  if (Object.keys(input).length === 0) return [];
  try {
    await data.update(module, id, input);
    return [];
  } catch (error) {
    if (!isAppError(error) || !isAboutRow(error)) throw error;
    const { fields = [{ path: `/${name}`, message: `cannot be changed: ${error.message}` }] } = error.details;
    return fields.map((problem: FieldProblem) => ({ ...problem, path: `/${index}${problem.path}` }));
  }
}

/** Whether the error is about one row, and the others can be checked all the same. */
function isAboutRow({ category }: AppError): boolean {
  return ['invalid', 'denied', 'not_found', 'conflict'].includes(category);
}

async function idsOf(
  data: DataClient,
  module: EntityModule,
  name: string,
  keys: readonly string[],
): Promise<(string | undefined)[]> {
  const wanted = [...new Set(keys)].filter((key) => (name === 'id' ? isId(key) : key !== ''));
  if (wanted.length === 0) return keys.map(() => undefined);
  const rows: readonly Readonly<Record<string, unknown>>[] = await data.find(module, {
    where: { [name]: { in: wanted } },
    limit: wanted.length,
  });
  const ids = new Map(rows.map((row) => [row[name] as string, row['id'] as string]));
  return keys.map((key) => ids.get(key));
}
