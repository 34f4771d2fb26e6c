import type { EntityModule } from './define.ts';
import { AppError } from '../base/errors.ts';
import { idHint } from '../base/id-hint.ts';
import { isId } from '../base/ids.ts';
import { shortened } from '../base/shortened.ts';

/** The error for a record that does not exist, is deleted, belongs to another organization or is hidden. It is the same for all, so that callers cannot distinguish them. */
export function missingRecord({ typeName, tenancy }: EntityModule, id: string): AppError {
  // Most of those that are looked for exist: in another organization of the caller.
  const where = isId(id) && tenancy === 'organization' ? ' in the organization in which you act' : '';
  return new AppError('not_found', `There is no ${typeName} "${shortened(id)}"${where}.${malformedIdHint(id)}`);
}

/** Returns a well-formed id as it is. A malformed id matches no record, and is not sent to the database. @throws AppError not_found */
export function existingId(module: EntityModule, id: string): string {
  if (isId(id)) return id;
  throw missingRecord(module, id);
}

/** For a message about a record that is not there: that its id is none, and how to find the id for a display id; else empty. */
export function malformedIdHint(id: string): string {
  return isId(id) ? '' : idHint(id) || ' This is not an id.';
}
