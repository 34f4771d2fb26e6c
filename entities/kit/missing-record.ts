import type { EntityModule } from './define.ts';
import { AppError } from './errors.ts';
import { isId } from './ids.ts';

/** Said of a record that does not exist, is deleted, belongs to others or is hidden: all the same, so that nobody can tell. */
export function missingRecord({ typeName }: EntityModule, id: string): AppError {
  return new AppError('not_found', `There is no ${typeName} "${id}".`);
}

/** What is no id is the id of nothing; the database need not be asked, or given what it cannot read. @throws AppError not_found */
export function existingId(module: EntityModule, id: string): string {
  if (isId(id)) return id;
  throw missingRecord(module, String(id));
}
