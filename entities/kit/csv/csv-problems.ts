import { AppError, isAppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';
import type { Columns } from './csv-columns.ts';
import type { CsvRow } from './csv-rows.ts';

/** What is wrong with the document itself. @throws AppError invalid_input */
export function refuseDocument(message: string, code: 'invalid_input' | 'limit_exceeded' = 'invalid_input'): never {
  throw new AppError(code, `The CSV cannot be read: ${message}.`, { details: { fields: [{ path: '/csv', message }] } });
}

/** @throws AppError invalid_input */
export function refuseHeader(module: EntityModule, messages: readonly string[]): never {
  const fields = messages.slice(0, maxProblems).map((message) => ({ path: '/csv', message }));
  throw new AppError('invalid_input', summary(module, fields), { details: { fields } });
}

/** A problem of a line, with its cell if it concerns one. */
export function atCell(line: number, column: string, message: string): string {
  return `line ${line}, column "${column}": ${message}`;
}

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
  const placed = error.details.fields.map(({ path, message }) => {
    const [, index = '', name = ''] = path.split('/');
    const line = rowOf(Number(index))?.line ?? 0;
    const place = columns.placeOf(name);
    const title = columns.titles[place] ?? name;
    return { path, message: title === '' ? `line ${line}: ${message}` : atCell(line, title, message), line, place };
  });
  const fields = placed
    .toSorted((one, other) => one.line - other.line || one.place - other.place)
    .slice(0, maxProblems)
    .map(({ path, message }): FieldProblem => ({ path, message }));
  return new AppError(error.code, summary(module, fields), { details: { fields }, cause: error });
}

export function summary({ typeName }: EntityModule, fields: readonly FieldProblem[]): string {
  return `${typeName}: ${fields.map(({ message }) => message).join('; ')}.`;
}
