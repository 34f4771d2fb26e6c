import { defineEntityModule } from './kit/define.ts';
import { integer, json, member, reference, text } from './kit/fields.ts';
import { allow, anyone, deny, role, system } from './kit/policy.ts';

const managers = role('owner', 'super_admin', 'admin');

export const file = defineEntityModule({
  kind: 'file',
  table: 'files',
  description: 'What is known of a file; its bytes are in the object storage.',
  fields: {
    name: text('Name it was given.', { max: 255 }),
    contentType: text('Media type.', { max: 255, default: 'application/octet-stream' }),
    sizeBytes: integer('Length.', { min: 0, max: Number.MAX_SAFE_INTEGER, default: 0, immutable: true }),
    metadata: json('What the uploader says about it.', { maxBytes: 16_384, optional: true }),
    ownerId: member('Who brought it.', { immutable: true, onLeave: 'keep', creator: true }),
    taskId: reference('task', 'The task it belongs to.', { optional: true, onDelete: 'cascade' }),
  },
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member', 'auditor')), deny(anyone)],
    create: [allow(system), allow(managers)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system), allow(managers)],
  },
  expose: {
    name: 'read-write',
    contentType: 'read-write',
    sizeBytes: 'read',
    metadata: 'read-write',
    ownerId: 'read',
    taskId: 'read-write',
  },
  filter: ['name', 'contentType', 'sizeBytes', 'ownerId', 'taskId'],
  order: ['name', 'sizeBytes', 'createdAt'],
  search: ['name'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
