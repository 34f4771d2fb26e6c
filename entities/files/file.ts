import { defineEntityModule } from '../kit/model/define.ts';
import { integer, json, member, reference, text } from '../kit/model/fields.ts';
import { allow, anyone, creators, deny, related, role, scope, system, through } from '../kit/model/policy.ts';

export const file = defineEntityModule({
  kind: 'file',
  table: 'files',
  description: 'Metadata of a file; its content is in object storage.',
  fields: {
    name: text('File name.', { max: 255 }),
    contentType: text('Media type (MIME type).', { max: 255, default: 'application/octet-stream' }),
    sizeBytes: integer('Size in bytes.', { min: 0, max: Number.MAX_SAFE_INTEGER, default: 0, immutable: true }),
    metadata: json('Metadata supplied by the uploader.', { maxBytes: 16_384, optional: true }),
    ownerId: member('Uploader.', { optional: true, immutable: true, onLeave: 'keep', creator: true }),
    taskId: reference('task', 'Task that the file is attached to.', {
      optional: true,
      onDelete: 'cascade',
      moves: 'remove',
    }),
  },
  tenancy: 'organization',
  policy: {
    // The owner comes before the block: nobody locks out whose file it is.
    view: [
      allow(system),
      allow(role('owner', 'super_admin')),
      allow(scope),
      allow(related('owner')),
      deny(related('blocked')),
      allow(role('admin', 'member')),
      allow(related('viewer', 'editor')),
      allow(through('taskId')),
      deny(anyone),
    ],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope), allow(creators)],
    edit: [
      allow(system),
      allow(role('owner', 'super_admin')),
      allow(scope),
      allow(related('owner')),
      deny(related('blocked')),
      allow(role('admin')),
      allow(related('editor')),
      allow(through('taskId')),
    ],
    remove: [
      allow(system),
      allow(role('owner', 'super_admin')),
      allow(scope),
      allow(related('owner')),
      deny(related('blocked')),
      allow(role('admin')),
    ],
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
  share: true,
  grants: [{ object: { kind: 'file', id: 'id' }, relation: 'owner', subject: { kind: 'user', id: 'ownerId' } }],
});
