import type { Work } from '../storage/work.ts';
import { ownedObject, type ObjectDocument, type OwnedObject } from './stored-object.ts';

/** The object that a record owns, for work of the server with its bytes. @returns undefined when no record owns it any more */
export async function readObject(work: Work, objectId: string): Promise<OwnedObject | undefined> {
  const rows = await work.rowsAsSystem<{ found: ObjectDocument | null }>('select object_for_download($1) as found', [
    objectId,
  ]);
  const found = rows[0]?.found;
  return found ? ownedObject(found) : undefined;
}
