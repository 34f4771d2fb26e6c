import { defineEntityModule } from '../kit/model/define.ts';
import { choice, json, sealed, singleLine, text, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';

export const secret = defineEntityModule({
  kind: 'secret',
  table: 'secrets',
  description:
    'Secret of an organization with which the server signs in to another system. It can be replaced, but nobody can read it.',
  fields: {
    name: singleLine('Name of the secret.', { min: 1, max: 120 }),
    description: text('Purpose of the secret.', { max: 2_000, lines: true, optional: true }),
    credentialType: choice('Sort of secret.', ['api_key', 'oauth_client', 'basic', 'certificate', 'other'], {
      default: 'other',
      immutable: true,
    }),
    value: sealed('The secret itself. It is encrypted immediately, and no response contains it.', { max: 65_536 }),
    metadata: json(
      'Custom data of API clients, as JSON. The server stores it and does not interpret it. It is not encrypted.',
      { maxBytes: 16_384, optional: true },
    ),
    lastUsedAt: timestamp('When the server last used the secret; null for one that was never used.', {
      optional: true,
    }),
    expiresAt: timestamp('When the secret stops working at the other system.', { optional: true }),
  },
  unique: [
    {
      fields: ['organizationId', 'name'],
      comparedAsName: 'name',
      message: 'The organization has a secret with this name.',
    },
  ],
  tenancy: 'organization',
  policy: managedRecord(),
  expose: {
    name: 'read-write',
    description: 'read-write',
    credentialType: 'read-write',
    value: 'write',
    metadata: 'read-write',
    lastUsedAt: 'read',
    expiresAt: 'read-write',
  },
  filter: ['name', 'credentialType', 'expiresAt'],
  order: ['name', 'expiresAt', 'lastUsedAt', 'createdAt'],
  search: ['name', 'description'],
  mutate: ['create', 'update', 'delete'],
  needsSession: true,
  events: ['created', 'updated', 'deleted'],
});
