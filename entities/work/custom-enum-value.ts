import { defineEntityModule } from '../kit/model/define.ts';
import { choice, color, singleLine, text } from '../kit/model/fields.ts';
import { allow, role, scope, system } from '../kit/model/policy.ts';
import { organizationRecord } from '../presets/organization-record.ts';
import { descriptionField } from '../presets/usual-fields.ts';

/** Values that are defined for `global` can be used in records of all kinds. */
export const customEnumValue = defineEntityModule({
  kind: 'customEnumValue',
  table: 'custom_enum_values',
  description:
    'Value that an organization defines for a field of its records, for example a type of task. A value that a record uses cannot be deleted.',
  fields: {
    objectType: choice('Kind of the records that can have the value; global: all kinds.', ['task', 'global'], {
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    field: choice('Field of a record that can have the value.', ['type', 'environment', 'scope'], {
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    name: singleLine('Name of the value.', {
      min: 1,
      max: 64,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    description: descriptionField('Meaning of the value.'),
    color: color({ exposed: 'read-write' }),
    icon: text('Name of an icon of the user interface.', { max: 64, optional: true, exposed: 'read-write' }),
  },
  unique: [
    {
      fields: ['organizationId', 'objectType', 'field', 'name'],
      comparedAsName: 'name',
      message: 'This value already exists.',
    },
  ],
  tenancy: 'organization',
  policy: {
    ...organizationRecord(),
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope)],
  },
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
