import { defineEntityModule } from '../kit/model/define.ts';
import { choice, integer, member, reference, text, textList, timestamp } from '../kit/model/fields.ts';
import { sharedRecord } from '../presets/shared-record.ts';

export const task = defineEntityModule({
  kind: 'task',
  table: 'tasks',
  description: 'Piece of work assigned to a user.',
  fields: {
    title: text('Title in one line.', { max: 500 }),
    details: text('Full description.', { max: 50_000, optional: true }),
    status: choice('Progress status.', ['open', 'in_progress', 'in_review', 'completed', 'wont_do'], {
      default: 'open',
    }),
    priority: integer('Priority; higher numbers are more important.', { min: 0, max: 100, default: 0 }),
    dueAt: timestamp('Due date.', { optional: true }),
    completedAt: timestamp('When the task was completed.', { optional: true }),
    tags: textList('Search tags.', { max: 64, maxItems: 50 }),
    assigneeId: member('Assignee: the user who does the task.', {
      optional: true,
      onLeave: 'keep',
      reverse: 'assignedTasks',
    }),
    assignerId: member('Assigner: the user who requested the task.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      creator: true,
      reverse: 'assignedByMe',
    }),
    parentId: reference('task', 'Parent task.', {
      optional: true,
      onDelete: 'cascade',
      requires: 'edit',
      moves: 'remove',
      reverse: 'subtasks',
    }),
  },
  displayId: 'TSK',
  tenancy: 'organization',
  policy: sharedRecord({ editors: ['assignee', 'assigner'], removers: ['assigner'], parent: 'parentId' }),
  expose: {
    title: 'read-write',
    details: 'read-write',
    status: 'read-write',
    priority: 'read-write',
    dueAt: 'read-write',
    completedAt: 'read-write',
    tags: 'read-write',
    assigneeId: 'read-write',
    assignerId: 'read-write',
    parentId: 'read-write',
  },
  filter: ['title', 'status', 'priority', 'dueAt', 'assigneeId', 'assignerId', 'parentId', 'tags'],
  order: ['title', 'priority', 'dueAt', 'createdAt'],
  search: ['title', 'details'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  share: true,
  hooks: {
    derivedValues: ({ status }, { at }) =>
      status === undefined ? {} : { completedAt: status === 'completed' ? at : null },
  },
  grants: [
    { object: { kind: 'task', id: 'id' }, relation: 'assignee', subject: { kind: 'user', id: 'assigneeId' } },
    { object: { kind: 'task', id: 'id' }, relation: 'assigner', subject: { kind: 'user', id: 'assignerId' } },
  ],
});
