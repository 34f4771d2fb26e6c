import { AppError, isAppError, maxProblems } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';
import type { Columns } from './csv-columns.ts';
import { atCell, summary } from './csv-problems.ts';
import type { CsvRow } from './csv-rows.ts';

/**
 * An error about the inputs of rows, with line and column of each problem, in the order of the document. An error about nothing in
 * particular stays as it is.
 * @param rows by the number in the paths of the problems
 */
export function withLines(
  module: EntityModule,
  error: unknown,
  columns: Columns,
  rowOf: (index: number) => CsvRow | undefined,
): unknown {
  if (!isAppError(error) || !error.details.fields) return error;
  const placed = error.details.fields.map((problem) => {
    const [, index = '', name = ''] = problem.path.split('/');
    const line = rowOf(Number(index))?.line ?? 0;
    const place = columns.indexOf(name);
    const title = columns.titles[place] ?? name;
    const message = title === '' ? `line ${line}: ${problem.message}` : atCell(line, title, problem.message);
    return { problem: { ...problem, message }, line, place };
  });
  const fields = placed
    .toSorted((one, other) => one.line - other.line || one.place - other.place)
    .slice(0, maxProblems)
    .map(({ problem }) => problem);
  return new AppError(error.code, summary(module, fields), { details: { fields }, cause: error });
}
