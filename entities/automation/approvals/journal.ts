import { workflowEvent, type WorkflowEventType } from '../workflow-event.ts';
import type { ApprovalWork, Instance, Row } from './approval-work.ts';

/** Facts of an entry of the journal. */
export interface JournalEntry {
  readonly actionKey?: string | null;
  /** Person who did it, or whom it concerns. */
  readonly personId?: string | null;
  readonly details?: Row | null;
}

/** Writes one step of a workflow into its journal. */
export function journal(
  work: Pick<ApprovalWork, 'data'>,
  instance: Pick<Instance, 'id' | 'organizationId'>,
  type: WorkflowEventType,
  entry: JournalEntry = {},
): Promise<void> {
  return journalAll(work, instance, type, [entry]);
}

/** Writes steps of one sort. */
export async function journalAll(
  { data }: Pick<ApprovalWork, 'data'>,
  { id: instanceId, organizationId }: Pick<Instance, 'id' | 'organizationId'>,
  type: WorkflowEventType,
  entries: readonly JournalEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await data.createAll(
    entries.map(({ actionKey = null, personId = null, details = null }) => ({
      module: workflowEvent,
      input: { organizationId, instanceId, type, actionKey, personId, details },
      path: '',
    })),
  );
}
