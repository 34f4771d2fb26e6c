import { defineEntityModule } from '../kit/model/define.ts';
import { color, text, textList } from '../kit/model/fields.ts';
import { allow, role, scope, system } from '../kit/model/policy.ts';
import { organizationRecord } from '../presets/organization-record.ts';
import { descriptionField } from '../presets/usual-fields.ts';

export const tag = defineEntityModule({
  kind: 'tag',
  table: 'tags',
  description: 'Tag that an organization uses to classify records.',
  fields: {
    name: text('Name of the tag.', {
      max: 64,
      immutable: true,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    aliases: textList('Alternative names.', { max: 64, maxItems: 50, exposed: 'read-write', lists: ['filter'] }),
    description: descriptionField('Meaning of the tag.'),
    color: color({ exposed: 'read-write' }),
  },
  unique: [{ fields: ['organizationId', 'name'], comparedAsName: 'name', message: 'This tag already exists.' }],
  tenancy: 'organization',
  policy: {
    ...organizationRecord(),
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope)],
  },
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
