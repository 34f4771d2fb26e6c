import { defineEntityModule } from './kit/define.ts';
import { flag, member, reference, text } from './kit/fields.ts';
import { allow, anyone, deny, role, system } from './kit/policy.ts';

const managers = role('owner', 'super_admin', 'admin');

export const note = defineEntityModule({
  kind: 'note',
  table: 'notes',
  description: 'What somebody wrote about a record.',
  fields: {
    title: text('Headline.', { max: 500, optional: true }),
    text: text('What was written.', { max: 50_000 }),
    isEdited: flag('Changed after it was written.', { default: false }),
    ownerId: member('Who wrote it.', { immutable: true, onLeave: 'keep', creator: true }),
    taskId: reference('task', 'The task it is about.', { optional: true, immutable: true, onDelete: 'cascade' }),
  },
  displayId: 'NTE',
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member', 'auditor')), deny(anyone)],
    create: [allow(system), allow(managers)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system), allow(managers)],
  },
  expose: { title: 'read-write', text: 'read-write', isEdited: 'read', ownerId: 'read', taskId: 'read-write' },
  filter: ['ownerId', 'taskId'],
  order: ['createdAt'],
  search: ['title', 'text'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
