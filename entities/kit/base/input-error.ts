import { AppError, maxProblems, type FieldProblem } from './errors.ts';
import { rowPath } from './row-path.ts';

/** The error for problems of input fields. Its text is made from the problems, so it is the same in every API. */
export function inputError(problems: readonly FieldProblem[], cause?: unknown): AppError {
  const fields = problems.slice(0, maxProblems);
  return new AppError('invalid_input', textOf(fields), { details: { fields }, cause });
}

/** The same error with other problems in its place, for example with the names that another API has for the fields. */
export function withProblems(error: AppError, fields: readonly FieldProblem[]): AppError {
  const isMade = error.code === 'invalid_input' && error.message === textOf(error.details.fields ?? []);
  if (isMade) return inputError(fields, error);
  return new AppError(error.code, error.message, { details: { ...error.details, fields }, cause: error });
}

function textOf(problems: readonly FieldProblem[]): string {
  const text = problems.map(describeProblem).join('; ');
  // The last problem may end with a sentence.
  return `The input is not valid: ${text}${/[.?]$/.test(text) ? '' : '.'}`;
}

function describeProblem({ path, message }: FieldProblem): string {
  const row = rowPath(path);
  const name = row ? path.split('/').slice(2).join('/') : path.slice(1);
  return row + (name ? `${name} ${message}` : message);
}

/** The error for a request that asks for too much. @param problem what is wrong, with the path of the part of the input that asks for it */
export function limitExceeded(message: string, problem: FieldProblem): AppError {
  return new AppError('limit_exceeded', message, { details: { fields: [problem] } });
}
