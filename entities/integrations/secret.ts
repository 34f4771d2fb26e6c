import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, json, sealed, singleLine, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { descriptionField } from '../presets/usual-fields.ts';

export const secret = defineEntityModule({
  kind: 'secret',
  table: 'secrets',
  description:
    'Secret of an organization with which the server signs in to another system. It can be replaced, but nobody can read it.',
  fields: {
    name: singleLine('Name of the secret.', {
      min: 1,
      max: 120,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    description: descriptionField('Purpose of the secret.'),
    credentialType: choice('Sort of secret.', ['api_key', 'oauth_client', 'basic', 'certificate', 'other'], {
      default: 'other',
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    value: sealed('The secret itself. It is encrypted immediately, and no response contains it.', {
      max: 65_536,
      exposed: 'write',
    }),
    metadata: json(
      'Custom data of API clients, as JSON. The server stores it and does not interpret it. It is not encrypted.',
      { maxBytes: 16_384, optional: true, exposed: 'read-write' },
    ),
    lastUsedAt: timestamp('When the server last used the secret; null for one that was never used.', {
      optional: true,
      exposed: 'read',
      lists: ['order'],
    }),
    expiresAt: timestamp('When the secret stops working at the other system.', {
      optional: true,
      exposed: 'read-write',
      lists: ['filter', 'order'],
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'name'],
      comparedAsName: 'name',
      message: 'The organization has a secret with this name.',
    },
  ],
  tenancy: 'organization',
  behaviours: [guarded({ needsSession: true })],
  policy: managedRecord(),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
