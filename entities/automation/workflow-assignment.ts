import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, flag, integer, member, reference, text, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, scope, system, through } from '../kit/model/policy.ts';

/** Statuses of an assignment. `cancelled`: nobody needs the decision any more, or the person may not take it any more. */
export const assignmentStatuses = ['pending', 'approved', 'rejected', 'changes_requested', 'cancelled'] as const;
export type AssignmentStatus = (typeof assignmentStatuses)[number];

export const workflowAssignment = defineEntityModule({
  kind: 'workflowAssignment',
  table: 'workflow_assignments',
  description: 'One person who is asked to approve or review a change.',
  fields: {
    instanceId: reference('workflowInstance', 'Workflow that asks.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'assignments',
      exposed: 'read',
      lists: ['filter'],
    }),
    actionKey: text('Key of the action that asks.', { max: 64, immutable: true, exposed: 'read', lists: ['filter'] }),
    round: integer('Round of approvals in which it was asked.', {
      min: 1,
      max: 100_000,
      default: 1,
      immutable: true,
      exposed: 'read',
    }),
    role: choice(
      'approver: the change waits for the decision. reviewer: it is written already.',
      ['approver', 'reviewer'],
      {
        default: 'approver',
        immutable: true,
        exposed: 'read',
        lists: ['filter'],
      },
    ),
    label: text('The question in one line.', { max: 200, optional: true, immutable: true, exposed: 'read' }),
    userId: member('Person who is asked.', {
      immutable: true,
      onLeave: 'keep',
      reverse: 'workflowAssignments',
      exposed: 'read',
      lists: ['filter'],
    }),
    source: choice(
      'Reason why this person is asked: the definition names them (target), nobody else could decide or decided in time (escalated), or the assignment was delegated or reassigned to them.',
      ['target', 'escalated', 'delegated', 'reassigned'],
      {
        default: 'target',
        immutable: true,
        exposed: 'read',
      },
    ),
    onBehalfOfId: member('Person in whose place a delegate decides: both together are one decision.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      reverse: 'delegatedWorkflowAssignments',
      exposed: 'read',
    }),
    isAdded: flag(
      'Whether the person was added because nobody else could decide or decided in time, or decides in the place of such a person. They can approve in the place of others, and do not raise the number that is needed while there are others.',
      { default: false, immutable: true, exposed: 'read' },
    ),
    isRequired: flag('Whether a rejection ends the round.', { default: true, immutable: true, exposed: 'read' }),
    status: choice(
      'pending: the person has not decided yet. cancelled: the decision is not needed any more, or the person may not take it any more.',
      assignmentStatuses,
      { default: 'pending', exposed: 'read', lists: ['filter'] },
    ),
    proposalHash: text('SHA-256 of the proposed values that the person is asked about, in hexadecimal.', {
      max: 64,
      optional: true,
      immutable: true,
      exposed: 'read',
    }),
    decidedAt: timestamp('When the person decided.', { optional: true, exposed: 'read', lists: ['order'] }),
    note: text('Reason that the person gave.', { max: 2_000, lines: true, optional: true, exposed: 'read' }),
    isVoid: flag('Whether the decision is void, because the person may not decide any more.', {
      default: false,
      exposed: 'read',
    }),
    dueAt: timestamp('When the decision is due.', { optional: true, exposed: 'read', lists: ['filter', 'order'] }),
    remindedAt: timestamp('When the person was reminded.', { optional: true, exposed: 'read' }),
    openKey: text('Ids of workflow, action and person while it is pending: a person is asked once at a time.', {
      max: 160,
      optional: true,
    }),
  },
  unique: [{ fields: ['openKey'], names: 'userId', message: 'This person is asked already.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(through('instanceId')), allow(scope), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    requested: { description: 'A person is asked to approve or review a change.', payload: payload({}) },
    reminded: { description: 'A person has not decided yet, and is reminded.', payload: payload({}) },
    decided: {
      description: 'A person has decided.',
      payload: payload({ status: Type.String({ description: 'approved, rejected or changes_requested.' }) }),
    },
  },
  grants: [
    {
      object: { kind: 'workflowInstance', id: 'instanceId' },
      relation: 'asked',
      subject: { kind: 'user', id: 'userId' },
    },
  ],
  hooks: {
    derivedValues: ({ instanceId, actionKey, userId, status }, { operation }) => {
      if (operation === 'create') return { openKey: `${String(instanceId)}/${String(actionKey)}/${String(userId)}` };
      return status === undefined || status === 'pending' ? {} : { openKey: null };
    },
  },
});
