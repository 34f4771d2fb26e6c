import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, json, singleLine, text } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';

export const integration = defineEntityModule({
  kind: 'integration',
  table: 'integrations',
  description: 'Connection of an organization to another system.',
  fields: {
    name: singleLine('Name of the integration.', { min: 1, max: 120 }),
    description: text('Purpose of the integration.', { max: 2_000, lines: true, optional: true }),
    definitionId: text('Id of the definition that it follows.', { max: 200, optional: true, immutable: true }),
    definitionVersion: text('Version of that definition.', { max: 64, optional: true }),
    family: text('Family of systems to which the other system belongs, for example directory.', {
      max: 64,
      optional: true,
    }),
    status: choice('Status of the connection.', ['pending', 'connected', 'errored', 'disabled'], {
      default: 'pending',
    }),
    metadata: json('Custom data of API clients, as JSON. The server stores it and does not interpret it.', {
      maxBytes: 16_384,
      optional: true,
    }),
    isPrimaryDirectory: flag('Whether it is the directory from which the organization takes its people.', {
      default: false,
    }),
    sendsCampaigns: flag('Whether campaigns are sent through it.', { default: false }),
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
  policy: managedRecord(),
  expose: {
    name: 'read-write',
    description: 'read-write',
    definitionId: 'read-write',
    definitionVersion: 'read-write',
    family: 'read-write',
    status: 'read',
    metadata: 'read-write',
    isPrimaryDirectory: 'read-write',
    sendsCampaigns: 'read-write',
  },
  filter: ['name', 'definitionId', 'family', 'status'],
  order: ['name', 'createdAt'],
  search: ['name', 'description'],
  mutate: ['create', 'update', 'delete'],
  joins: [{ to: 'secret' }],
  events: ['created', 'updated', 'deleted'],
});
