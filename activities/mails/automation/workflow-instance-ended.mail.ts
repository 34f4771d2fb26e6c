import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { appliedEntry } from '#entities/automation/approvals/apply-proposal.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { defineNotification } from '../define-notification.ts';
import { pageOfInstance, workflowSample, workflowValues } from './workflow-text.ts';

const outcomes: Readonly<Record<string, string>> = {
  completed: 'The workflow was ended by somebody who manages it; the change is not written.',
  rejected: 'It is rejected, and not written.',
  cancelled: 'The workflow was cancelled; the change is not written.',
};

/** @param status of the instance at its end */
async function outcomeOf({ data }: UnitOfWork, instanceId: string, status: string): Promise<string> {
  const written = await appliedEntry(data, instanceId);
  if (!written) return outcomes[status] ?? '';
  const { isForced } = written.details as { readonly isForced?: boolean };
  return isForced ? 'It is written: somebody who manages the workflow has decided so.' : 'It is approved, and written.';
}

/** Only about changes that were held: the others were written before. */
export const workflowInstanceEnded = defineNotification(workflowInstance, 'ended', {
  listener: 'notify-workflow-ended',
  description: 'the person who has made a change that waited for approvals: how it ended',
  audience: ({ record: { initiatorId, proposalId } }) =>
    initiatorId === null || proposalId === null ? [] : [{ userId: initiatorId }],
  text: {
    title: 'There is a decision about the change that you have submitted',
    body: ['{{outcome}}', '{{reason}}', 'Workflow: {{workflow}}, about a record of the kind {{kind}}.'],
    many: 'There are decisions about {{count}} changes that you have submitted',
  },
  values: async ({ record, event: { payload }, unit }) => {
    const values = await workflowValues(unit, record);
    const outcome = await outcomeOf(unit, record.id, payload.status);
    return () => ({ outcome, reason: record.reason ?? '', ...values });
  },
  sample: { outcome: 'It is rejected, and not written.', reason: 'Two tests are missing.', ...workflowSample },
  link: pageOfInstance,
  unsubscribesFrom: 'decisions about changes that you have submitted',
});
