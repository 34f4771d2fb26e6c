import { newId } from '../base/ids.ts';
import type { Work } from '../storage/work.ts';

export interface FileOperation {
  readonly operation: 'restore' | 'restore-missing' | 'restore-all' | 'purge';
  /** Null for an operation on all files. */
  readonly objectId: string | null;
  /** Operator who ran the command: login and host name of their machine. */
  readonly operator: string;
  readonly reason: string;
}

/** Keeps the record that an operator did something; nothing deletes it. */
export async function recordFileOperation(
  work: Work,
  { operation, objectId, operator, reason }: FileOperation,
): Promise<void> {
  await work.runAsSystem(
    `insert into file_operations (id, at, operation, object_id, organization_id, operator, reason)
     values ($1, $2, $3, $4, (select organization_id from stored_objects where id = $4), $5, $6)`,
    [newId(), work.clock.now(), operation, objectId, operator, reason],
  );
}
