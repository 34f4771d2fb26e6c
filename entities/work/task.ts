import { Type } from 'typebox';
import { automated } from '../kit/behaviours/automated.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, integer, member, reference, text, textList, timestamp } from '../kit/model/fields.ts';
import { moment } from '../kit/model/composed/moment.ts';
import { assigned, mentioned } from '../kit/model/composed/people-events.ts';
import { urlList } from '../kit/model/composed/url-list.ts';
import { sharedRecord } from '../presets/shared-record.ts';
import { customData } from '../presets/usual-fields.ts';

const dueDate = payload({ dueAt: Type.String({ format: 'date-time', description: 'Due date of the task.' }) });

export const task = defineEntityModule({
  kind: 'task',
  table: 'tasks',
  description: 'Piece of work assigned to a user.',
  fields: {
    title: text('Title in one line.', { max: 500, exposed: 'read-write', lists: ['filter', 'order', 'search'] }),
    details: text('Full description.', {
      max: 50_000,
      lines: true,
      optional: true,
      mentions: true,
      exposed: 'read-write',
      lists: ['search'],
    }),
    status: choice('Progress status.', ['open', 'in_progress', 'in_review', 'completed', 'wont_do'], {
      default: 'open',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    priority: integer('Priority; higher numbers are more important.', {
      min: 0,
      max: 100,
      default: 0,
      exposed: 'read-write',
      lists: ['filter', 'order'],
    }),
    dueAt: timestamp('Due date.', { optional: true, exposed: 'read-write', lists: ['filter', 'order'] }),
    completedAt: moment(
      timestamp('When the task was completed.', { optional: true, exposed: 'read-write' }),
      'status',
      'completed',
    ),
    tags: textList('Search tags.', { max: 64, maxItems: 50, exposed: 'read-write', lists: ['filter'] }),
    assigneeId: member('Assignee: the user who does the task.', {
      optional: true,
      onLeave: 'keep',
      reverse: 'assignedTasks',
      announces: 'assigned',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    assignerId: member('Assigner: the user who requested the task.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      creator: true,
      reverse: 'assignedByMe',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    parentId: reference('task', 'Parent task.', {
      optional: true,
      onDelete: 'cascade',
      requires: 'edit',
      moves: 'remove',
      reverse: 'subtasks',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    typeId: reference('customEnumValue', 'Type of the task.', {
      optional: true,
      reverse: 'tasksOfType',
      only: { objectType: ['task'], field: ['type'] },
      exposed: 'read-write',
      lists: ['filter'],
    }),
    environmentId: reference('customEnumValue', 'Environment that the task concerns.', {
      optional: true,
      reverse: 'tasksOfEnvironment',
      only: { objectType: ['global'], field: ['environment'] },
      exposed: 'read-write',
      lists: ['filter'],
    }),
    scopeId: reference('customEnumValue', 'Scope that the task concerns.', {
      optional: true,
      reverse: 'tasksOfScope',
      only: { objectType: ['global'], field: ['scope'] },
      exposed: 'read-write',
      lists: ['filter'],
    }),
    externalId: text('Id of the task in another system.', {
      max: 200,
      optional: true,
      exposed: 'read-write',
      lists: ['filter', 'search'],
    }),
    externalUrls: urlList('Addresses of the task in other systems.', {
      max: 2_048,
      maxItems: 20,
      exposed: 'read-write',
    }),
    metadata: customData,
  },
  // People are reminded of tasks of all organizations in the order of their due dates; lists of one organization have other indexes.
  indexes: [{ fields: ['dueAt'], where: 'completed_at is null' }],
  displayId: 'TSK',
  unique: [
    {
      fields: ['organizationId', 'externalId'],
      names: 'externalId',
      message: 'There is a task with this external id.',
    },
  ],
  tenancy: 'organization',
  policy: sharedRecord({ editors: ['assignee', 'assigner'], removers: ['assigner'], parent: 'parentId' }),
  behaviours: [
    automated({
      fields: [
        'title',
        'details',
        'status',
        'priority',
        'dueAt',
        'tags',
        'assigneeId',
        'parentId',
        'typeId',
        'environmentId',
        'scopeId',
        'externalId',
      ],
    }),
  ],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    assigned,
    mentioned,
    due_tomorrow: {
      description: 'An open task is due tomorrow, in the time zone of its assignee. Once for each due date.',
      payload: dueDate,
    },
    due_today: {
      description: 'An open task is due today, in the time zone of its assignee. Once for each due date.',
      payload: dueDate,
    },
    overdue: { description: 'The due date of an open task has passed. Once for each due date.', payload: dueDate },
  },
  share: true,
  joins: [{ to: 'group' }],
  files: { accept: 'common', maxSizeMb: 102_400 },
  hooks: {
    derivedValues: ({ status }, { at }) =>
      status === undefined ? {} : { completedAt: status === 'completed' ? at : null },
  },
  grants: [
    { object: { kind: 'task', id: 'id' }, relation: 'assignee', subject: { kind: 'user', id: 'assigneeId' } },
    { object: { kind: 'task', id: 'id' }, relation: 'assigner', subject: { kind: 'user', id: 'assignerId' } },
  ],
});
