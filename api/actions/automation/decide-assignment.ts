import { Type } from 'typebox';
import { decide, type Decision } from '#entities/automation/approvals/decide.ts';
import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { personAtWork } from '../../people/workflow-work.ts';
import { fieldOf, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const common = {
  tag: 'Workflow assignments',
  acceptsSingleSignOn: true,
  answer: { workflowAssignment: recordOf(workflowAssignment) },
  errors: ['not_found', 'permission_denied', 'already_decided', 'stale_record', 'rule_violated', 'workflows_disabled'],
} as const;

const id = idSchema('Id of the assignment.');
const note = fieldOf(workflowAssignment, 'note');

export const approveWorkflowAssignment = defineAction({
  ...common,
  name: 'approveWorkflowAssignment',
  url: '/v1/workflow-assignments/:id/approve',
  summary: 'Approve what you are asked about',
  description:
    'For the person who is asked. The change is written when enough people have approved it. If the proposed values have changed since, the answer is `stale_record`.',
  input: { id, note: Type.Optional(note) },
  run: (asking, input) => decided(asking, input, 'approved'),
});

export const rejectWorkflowAssignment = defineAction({
  ...common,
  name: 'rejectWorkflowAssignment',
  url: '/v1/workflow-assignments/:id/reject',
  summary: 'Reject what you are asked about',
  description: 'For the person who is asked. The person who has submitted the change is notified of the reason.',
  input: { id, note },
  run: (asking, input) => decided(asking, input, 'rejected'),
});

export const requestChangesWorkflowAssignment = defineAction({
  ...common,
  name: 'requestChangesWorkflowAssignment',
  url: '/v1/workflow-assignments/:id/request-changes',
  summary: 'Request changes of what you are asked about',
  description:
    'For the person who is asked. The person who has submitted the change can edit it; everybody is then asked again. Reviews of changes that are written cannot be answered so.',
  input: { id, note },
  run: (asking, input) => decided(asking, input, 'changes_requested'),
});

async function decided(
  asking: Parameters<typeof personAtWork>[0],
  given: { readonly id: string; readonly note?: string | null },
  decision: Decision,
) {
  const { work, userId } = personAtWork(asking);
  const input = { assignmentId: given.id, userId, decision, note: given.note ?? null };
  return { workflowAssignment: (await decide(work, input)).id };
}
