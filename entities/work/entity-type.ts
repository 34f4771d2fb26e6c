import { defineEntityModule } from '../kit/model/define.ts';
import { singleLine } from '../kit/model/fields.ts';
import { organizationRecord } from '../presets/organization-record.ts';

export const entityType = defineEntityModule({
  kind: 'entityType',
  table: 'entity_types',
  description: 'Sort of company with which the organization deals, for example vendor or customer.',
  fields: {
    name: singleLine('Name of the type.', {
      min: 1,
      max: 64,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
  },
  unique: [{ fields: ['organizationId', 'name'], comparedAsName: 'name', message: 'This type already exists.' }],
  tenancy: 'organization',
  policy: organizationRecord(),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
