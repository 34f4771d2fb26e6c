import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, singleLine, text } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { customData, descriptionField } from '../presets/usual-fields.ts';

const statuses = ['pending', 'connected', 'errored', 'disabled'] as const;

export const integration = defineEntityModule({
  kind: 'integration',
  table: 'integrations',
  description: 'Connection of an organization to another system.',
  fields: {
    name: singleLine('Name of the integration.', {
      min: 1,
      max: 120,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    description: descriptionField('Purpose of the integration.'),
    definitionId: text('Id of the definition that it follows.', {
      max: 200,
      optional: true,
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    definitionVersion: text('Version of that definition.', { max: 64, optional: true, exposed: 'read-write' }),
    family: text('Family of systems to which the other system belongs, for example directory.', {
      max: 64,
      optional: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    status: choice('Status of the connection.', statuses, { default: 'pending', exposed: 'read', lists: ['filter'] }),
    statusBeforeLapse: choice(
      'Status that the integration had when the server disabled it, because the subscription of the organization ended; null if it did not. The integration gets this status back when the organization pays again.',
      statuses,
      { optional: true, exposed: 'read' },
    ),
    metadata: customData,
    isPrimaryDirectory: flag('Whether it is the directory from which the organization takes its people.', {
      default: false,
      exposed: 'read-write',
    }),
    sendsCampaigns: flag('Whether campaigns are sent through it.', { default: false, exposed: 'read-write' }),
  },
  displayId: 'INT',
  unique: [
    {
      fields: ['organizationId', 'name'],
      comparedAsName: 'name',
      message: 'The organization has an integration with this name.',
    },
  ],
  tenancy: 'organization',
  behaviours: [guarded({ needsPaymentMethod: true })],
  policy: managedRecord(),
  mutate: ['create', 'update', 'delete'],
  joins: [{ to: 'secret' }],
  events: ['created', 'updated', 'deleted'],
});
