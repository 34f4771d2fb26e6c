import type { CelError, CelErrorCode } from './cel-contract.ts';
import { readableMessage } from './cel-type.ts';
import { isLibraryError } from './library-node.ts';
import { CelFailure } from './meter.ts';

/** Codes of cel-js at evaluation. Others are about types or arguments. */
const codes: Readonly<Record<string, CelErrorCode>> = {
  no_such_key: 'no_such_key',
  index_out_of_bounds: 'no_such_key',
  unknown_variable: 'no_such_key',
  division_by_zero: 'division_by_zero',
  modulo_by_zero: 'division_by_zero',
  numeric_overflow: 'overflow',
  bool_conversion_error: 'invalid_argument',
  double_conversion_error: 'invalid_argument',
  optional_value_missing: 'no_such_key',
};

/** In place of messages of cel-js with values of variables: people read them who may not view the record. */
const messages: Readonly<Record<string, string>> = {
  bool_conversion_error: 'The value is no bool.',
  numeric_overflow: 'The result is no 64-bit integer.',
};

/** The description, for the caller, of an error that ended an evaluation. */
export function describeFailure(error: unknown): CelError {
  if (error instanceof CelFailure) return { code: error.code, message: error.message, ...error.place };
  if (isLibraryError(error)) {
    const message = messages[error.code] ?? readableMessage(error.summary);
    return { code: codes[error.code] ?? 'wrong_type', message, ...error.range };
  }
  // V8's limits of texts and of the stack.
  if (error instanceof RangeError)
    return { code: 'value_too_large', message: 'A value of the expression is too large or nested too deep.' };
  return { code: 'invalid_argument', message: 'The expression cannot be evaluated with these values.' };
}
