import { automated } from '../kit/behaviours/automated.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { aboutFile, file as fileField, filledFromFile } from '../kit/model/composed/file-field.ts';
import { allow, anyone, creators, deny, related, role, scope, system } from '../kit/model/policy.ts';
import { creatorField } from '../presets/usual-fields.ts';

export const file = defineEntityModule({
  kind: 'file',
  table: 'files',
  description: 'File of the organization. Files of other records, such as tasks, have kinds of their own.',
  fields: {
    content: fileField('Content. A change replaces it.', {
      accept: 'common',
      maxSizeMb: 102_400,
      isNew: true,
      fills: filledFromFile,
      exposed: 'read-write',
    }),
    ...aboutFile(),
    ownerId: creatorField('Uploader.'),
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
  behaviours: [automated({ fields: ['name', 'metadata'] })],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  share: true,
  grants: [{ object: { kind: 'file', id: 'id' }, relation: 'owner', subject: { kind: 'user', id: 'ownerId' } }],
});
