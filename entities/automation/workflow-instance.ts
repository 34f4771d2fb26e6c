import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, integer, json, member, reference, text, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, related, role, scope, system } from '../kit/model/policy.ts';
import { managerRoles } from '../presets/roles.ts';
import { recordKindField, triggerOperations } from './definition-fields.ts';

/**
 * Statuses of an instance. `waiting`: for decisions of people. `failing`: an action has failed, and waits for an operator or a retry. The others
 * after `running` are ends.
 */
const instanceStatuses = ['running', 'waiting', 'failing', 'completed', 'rejected', 'cancelled'] as const;

export const workflowInstance = defineEntityModule({
  kind: 'workflowInstance',
  table: 'workflow_instances',
  description: 'One run of a workflow definition for one record.',
  fields: {
    definitionId: reference('workflowDefinition', 'Definition that runs.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'instances',
      exposed: 'read',
      lists: ['filter'],
    }),
    versionId: reference('workflowVersion', 'Version with which it runs.', {
      reverse: 'instances',
      exposed: 'read',
      lists: ['filter'],
    }),
    recordKind: recordKindField,
    // A plain id without a foreign key: the record may be deleted.
    subjectId: text('Id of the record.', { max: 26, immutable: true, exposed: 'read', lists: ['filter'] }),
    trigger: choice('Change that started it.', triggerOperations, {
      default: 'update',
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    proposalId: text('Id of the proposal that it decides; null if the change was written.', {
      max: 26,
      optional: true,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    status: choice(
      'waiting: for decisions of people. failing: an action has failed and is tried again; reason has the error. completed, rejected and cancelled are ends.',
      instanceStatuses,
      { default: 'running', exposed: 'read', lists: ['filter'] },
    ),
    actionIndex: integer('Number of the action that runs, from 0.', {
      min: 0,
      max: 1_000,
      default: 0,
      exposed: 'read',
    }),
    round: integer('Number of the round of approvals; each new submission begins one.', {
      min: 1,
      max: 100_000,
      default: 1,
      exposed: 'read',
    }),
    initiatorId: member('Person whose change started it; null for a program or the server.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      reverse: 'initiatedWorkflows',
      exposed: 'read',
      lists: ['filter'],
    }),
    initiatorTokenId: text('Id of the token with which the change was made.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    eventId: text('Id of the event that started it.', { max: 26, optional: true, immutable: true }),
    chain: json('Ids of the definitions whose actions led to the change, the first one first.', {
      maxBytes: 1_000,
      optional: true,
      immutable: true,
    }),
    context: json('The change: names and former values of the changed fields, and further facts for expressions.', {
      maxBytes: 262_144,
      optional: true,
    }),
    waitingUntil: timestamp('When it acts next if nobody decides: a reminder or a deadline.', {
      optional: true,
      exposed: 'read',
      lists: ['order'],
    }),
    endedAt: timestamp('When it ended.', { optional: true, exposed: 'read', lists: ['filter', 'order'] }),
    reason: text('Why it failed, waits or ended so, as text for people.', {
      max: 2_000,
      lines: true,
      optional: true,
      exposed: 'read',
    }),
    openKey: text('Ids of definition and record while it is open: a definition has one open instance for a record.', {
      max: 60,
      optional: true,
    }),
  },
  unique: [{ fields: ['openKey'], message: 'The definition runs for this record already.' }],
  indexes: [{ fields: ['waitingUntil'], where: 'ended_at is null' }],
  tenancy: 'organization',
  policy: {
    view: [
      allow(system),
      allow(role(...managerRoles, 'auditor')),
      allow(related('initiator', 'asked')),
      allow(scope),
      deny(anyone),
    ],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    ended: {
      description: 'The workflow has ended.',
      payload: payload({ status: Type.String({ description: 'How it ended: completed, rejected or cancelled.' }) }),
    },
    round_started: {
      description: 'The proposed values have changed, and the people are asked again.',
      payload: payload({ round: Type.Integer({ description: 'Number of the round.' }) }),
    },
    delegated: {
      description: 'Somebody else may decide in the place of a person who is asked.',
      payload: payload({ assignmentId: Type.String({ description: 'Id of the assignment of the delegate.' }) }),
    },
    reassigned: {
      description: 'An assignment was handed over to another person.',
      payload: payload({ assignmentId: Type.String({ description: 'Id of the assignment of that person.' }) }),
    },
    messaged: {
      description: 'An action of the workflow notifies people.',
      payload: payload({
        actionKey: Type.String({ description: 'Key of the action.' }),
        userIds: Type.Array(Type.String(), { description: 'Ids of the people.' }),
        title: Type.String({ description: 'The text in one line.' }),
        body: Type.String({ description: 'Further text.' }),
      }),
    },
    mail_requested: {
      description: 'An action of the workflow sends an e-mail to people; its text is in the journal.',
      payload: payload({
        actionKey: Type.String({ description: 'Key of the action.' }),
        index: Type.Integer({ description: 'Number of the action, from 0.' }),
        userIds: Type.Array(Type.String(), { description: 'Ids of the people.' }),
      }),
    },
    unattended: {
      description: 'Nobody can decide: no target of an approval is an active member who sees the record.',
      payload: payload({ actionKey: Type.String({ description: 'Key of the action.' }) }),
    },
  },
  grants: [
    {
      object: { kind: 'workflowInstance', id: 'id' },
      relation: 'initiator',
      subject: { kind: 'user', id: 'initiatorId' },
    },
  ],
  hooks: {
    derivedValues: ({ endedAt }) => (endedAt ? { openKey: null } : {}),
  },
});
