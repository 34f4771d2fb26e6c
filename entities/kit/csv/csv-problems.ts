import { AppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';

type DocumentCode = 'invalid_input' | 'limit_exceeded';

/** Refuses the document itself. @throws AppError invalid_input */
export function refuseDocument(message: string, code?: DocumentCode): never {
  throw refusalOf(message, code);
}

/** See `refuseDocument`. */
export function refusalOf(message: string, code: DocumentCode = 'invalid_input'): AppError {
  return new AppError(code, `The CSV cannot be read: ${message}.`, {
    details: { fields: [{ path: '/csv', message }] },
  });
}

/** A document of only a header would do nothing, and say that it is done. @throws AppError invalid_input */
export function refuseNoRows(): never {
  refuseDocument('it has only a header; write a line for each record below it');
}

/** @throws AppError invalid_input */
export function refuseHeader(module: EntityModule, messages: readonly string[]): never {
  throw wrongRows(
    module,
    messages.slice(0, maxProblems).map((message) => ({ path: '/csv', message })),
  );
}

/** The error about lines, each of which a problem names. */
export function wrongRows(module: EntityModule, fields: readonly FieldProblem[]): AppError {
  return new AppError('invalid_input', summary(module, fields), { details: { fields } });
}

/** A problem of a line, with its cell if it concerns one. */
export function atCell(line: number, column: string, message: string): string {
  return `line ${line}, column "${column}": ${message}`;
}

/** Characters of problems that a text about them has, unless the first one is longer. */
const maxLength = 4_000;

/** The text of an error with these problems, each of them whole. */
export function summary({ typeName }: EntityModule, fields: readonly FieldProblem[]): string {
  let length = 0;
  const shown = fields.filter(({ message }, index) => (length += message.length) <= maxLength || index === 0);
  const more = fields.length - shown.length;
  const rest = more === 0 ? '' : `; and ${more} more`;
  return `${typeName}: ${shown.map(({ message }) => message).join('; ')}${rest}.`;
}
