import { defineEntityModule } from '../kit/model/define.ts';
import { choice, json, member, reference, text } from '../kit/model/fields.ts';
import { allow, anyone, deny, scope, system, through } from '../kit/model/policy.ts';

export const workflowEventTypes = [
  'workflow_triggered',
  'action_completed',
  'action_skipped',
  'action_failed',
  'assignment_created',
  'assignment_decided',
  'assignment_cancelled',
  'round_started',
  'reminded',
  'escalated',
  'proposal_applied',
  'proposal_rejected',
  'workflow_completed',
] as const;
export type WorkflowEventType = (typeof workflowEventTypes)[number];

export const workflowEvent = defineEntityModule({
  kind: 'workflowEvent',
  table: 'workflow_events',
  description: 'Entry of the journal of a workflow: one step of it.',
  fields: {
    instanceId: reference('workflowInstance', 'Workflow of which it is a step.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'journal',
      exposed: 'read',
      lists: ['filter'],
    }),
    type: choice('Type of the step.', workflowEventTypes, {
      default: 'action_completed',
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    actionKey: text('Key of the action that it concerns.', {
      max: 64,
      optional: true,
      immutable: true,
      exposed: 'read',
    }),
    personId: member('Person who did it, or whom it concerns.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      reverse: 'workflowSteps',
      exposed: 'read',
    }),
    details: json('Further facts: numbers, codes, values of expressions.', {
      maxBytes: 16_384,
      optional: true,
      immutable: true,
      exposed: 'read',
    }),
  },
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(through('instanceId')), allow(scope), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  events: [],
});
