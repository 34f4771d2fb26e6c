import { defineEntityModule } from './kit/define.ts';
import { choice, integer, member, reference, text, textList, timestamp } from './kit/fields.ts';
import { allow, anyone, deny, role, system } from './kit/policy.ts';

const managers = role('owner', 'super_admin', 'admin');

export const task = defineEntityModule({
  kind: 'task',
  table: 'tasks',
  description: 'Something that somebody has to do.',
  fields: {
    title: text('What is to be done, in one line.', { max: 500 }),
    details: text('What is to be done, at length.', { max: 50_000, optional: true }),
    status: choice('How far it is.', ['open', 'in_progress', 'in_review', 'completed', 'wont_do'], { default: 'open' }),
    priority: integer('How much it matters; more is more.', { min: 0, max: 100, default: 0 }),
    dueAt: timestamp('When it has to be done.', { optional: true }),
    completedAt: timestamp('When it was done.', { optional: true }),
    tags: textList('Words to find it by.', { max: 64, maxItems: 50 }),
    assigneeId: member('Who does it.', { optional: true, onLeave: 'keep', reverse: 'assignedTasks' }),
    assignerId: member('Who asked for it.', {
      immutable: true,
      onLeave: 'keep',
      creator: true,
      reverse: 'assignedByMe',
    }),
    parentId: reference('task', 'The task it is part of.', {
      optional: true,
      onDelete: 'cascade',
      requires: 'edit',
      reverse: 'subtasks',
    }),
  },
  displayId: 'TSK',
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member', 'auditor')), deny(anyone)],
    create: [allow(system), allow(managers)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system), allow(managers)],
  },
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
});
