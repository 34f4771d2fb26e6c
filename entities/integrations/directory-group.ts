import { defineEntityModule } from '../kit/model/define.ts';
import { json, reference, text } from '../kit/model/fields.ts';
import { reportedRecord } from '../presets/reported-record.ts';

export const directoryGroup = defineEntityModule({
  kind: 'directoryGroup',
  table: 'directory_groups',
  description: 'Group of a directory, as the directory describes it.',
  fields: {
    integrationId: reference('integration', 'Integration of the directory.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'directoryGroups',
      exposed: 'read',
      lists: ['filter'],
    }),
    externalId: text('Id of the group in the directory.', {
      max: 255,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    displayName: text('Name of the group.', {
      max: 256,
      optional: true,
      exposed: 'read',
      lists: ['filter', 'order', 'search'],
    }),
    email: text('E-mail address of the group.', { max: 254, optional: true, exposed: 'read', lists: ['filter'] }),
    description: text('Purpose of the group.', { max: 2_000, lines: true, optional: true, exposed: 'read' }),
    reference: text('Id that the system which pushes the group has given it (`externalId` of SCIM).', {
      max: 255,
      optional: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    attributes: json('Further attributes of the directory.', { maxBytes: 16_384, optional: true, exposed: 'read' }),
  },
  unique: [{ fields: ['integrationId', 'externalId'], message: 'The directory has a group with this id already.' }],
  tenancy: 'organization',
  policy: reportedRecord(),
  events: ['created', 'updated', 'deleted'],
});
