import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, json, reference, sealed, singleLine, text, timestamp } from '../kit/model/fields.ts';
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
    integrationId: reference(
      'integration',
      'Integration of which the server keeps the credential here; null for a secret that a person has entered.',
      {
        optional: true,
        immutable: true,
        onDelete: 'cascade',
        reverse: 'credentials',
        exposed: 'read',
        lists: ['filter'],
      },
    ),
    credentialRef: text('Which credential of the integration it is, as the definition names it.', {
      max: 64,
      optional: true,
      immutable: true,
      exposed: 'read',
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
    {
      fields: ['integrationId', 'credentialRef'],
      message: 'The integration has this credential already.',
    },
  ],
  tenancy: 'organization',
  behaviours: [
    guarded({ needsSession: true }),
    refusesChanges([
      {
        on: ['edit', 'remove'],
        unlessSystem: true,
        refuseIf: 'row.integration_id is not null',
        field: 'integrationId',
        code: 'rule_violated',
        message:
          'The server keeps the credential of an integration here. Connect the integration again to replace it, or disconnect the integration to delete it.',
      },
    ]),
  ],
  policy: managedRecord(),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
