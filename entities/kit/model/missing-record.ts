import type { EntityModule } from './define.ts';
import { AppError } from '../base/errors.ts';
import { isId } from '../base/ids.ts';

/** Said of a record that does not exist, is deleted, belongs to others or is hidden: all the same, so that nobody can tell. */
export function missingRecord({ typeName }: EntityModule, id: string): AppError {
  return new AppError('not_found', `There is no ${typeName} "${shortened(id)}".`);
}

/** What is no id is the id of nothing; the database need not be asked, or given what it cannot read. @throws AppError not_found */
export function existingId(module: EntityModule, id: string): string {
  if (isId(id)) return id;
  throw missingRecord(module, id);
}

/** What an answer repeats of an id: what is longer than one was none, and may have been sent to be repeated a thousand times. */
export function shortened(id: string): string {
  return id.length <= 64 ? id : `${id.slice(0, 64).toWellFormed()}…`;
}
