import { AppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';

/** What is wrong with the document itself. @throws AppError invalid_input */
export function refuseDocument(message: string, code: 'invalid_input' | 'limit_exceeded' = 'invalid_input'): never {
  throw new AppError(code, `The CSV cannot be read: ${message}.`, { details: { fields: [{ path: '/csv', message }] } });
}

/** A document of only a header would do nothing, and say that it is done. @throws AppError invalid_input */
export function refuseNoRows(): never {
  refuseDocument('it has only a header; write a line for each record below it');
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

/** The text of an error with these problems. */
export function summary({ typeName }: EntityModule, fields: readonly FieldProblem[]): string {
  return `${typeName}: ${fields.map(({ message }) => message).join('; ')}.`;
}
