import { Type } from 'typebox';
import { deprecated } from '../kit/model/behaviours/deprecated.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, flag, integer, json, singleLine, text, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { customData, descriptionField } from '../presets/usual-fields.ts';

/**
 * Statuses of a connection. `pending`: nobody has signed in to the other system yet. `errored`: the other system refuses the credential, and a
 * person has to connect again. `disabled`: the server has stopped it, because nobody pays. `disconnecting`: its credential is being ended. `disconnected`: it has none any more, and keeps the
 * records that came in.
 */
const statuses = ['pending', 'connected', 'errored', 'disabled', 'disconnecting', 'disconnected'] as const;

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
    userInput: json('Settings of the organization for the definition, such as filters.', {
      maxBytes: 65_536,
      optional: true,
      exposed: 'read',
    }),
    credentialRef: text('Sort of credential with which it is connected, as the definition names it.', {
      max: 64,
      optional: true,
      exposed: 'read',
    }),
    accountId: text('Id of the account at the other system, such as its tenant, workspace or installation.', {
      max: 255,
      optional: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    accountName: text('Name of that account.', { max: 256, optional: true, exposed: 'read' }),
    expiresAt: timestamp('When it is removed unless somebody has connected it by then; null once it is connected.', {
      optional: true,
      exposed: 'read',
      lists: ['order'],
    }),
    connectedAt: timestamp('When it was last connected.', { optional: true, exposed: 'read' }),
    errorCode: text('Code of the error because of which it does not work.', {
      max: 64,
      optional: true,
      exposed: 'read',
    }),
    errorMessage: text('The error, and its remedy.', {
      max: 2_000,
      lines: true,
      optional: true,
      exposed: 'read',
    }),
    erroredAt: timestamp('When it stopped working.', { optional: true, exposed: 'read' }),
    probes: integer('Number of times that the server has looked whether it works again.', {
      min: 0,
      max: 1_000_000,
      default: 0,
    }),
    nextProbeAt: timestamp('When the server looks again whether it works, or whether it is disconnected.', {
      optional: true,
      exposed: 'read',
    }),
    responsibleId: text(
      'Id of the person responsible for the integration, who connected it last. When that person leaves, an owner of the organization becomes responsible.',
      { max: 26, optional: true, exposed: 'read', lists: ['filter'] },
    ),
    keepsRecords: flag('Whether the records that came in stay when it is disconnected.', { default: false }),
    expiryAnnouncedAt: timestamp('When the person responsible was notified that its credential stops working soon.', {
      optional: true,
    }),
    lastSyncAt: timestamp('When records last came in.', { optional: true, exposed: 'read' }),
    nextSyncAt: timestamp('When records come in next.', { optional: true, exposed: 'read' }),
    refreshingUntil: timestamp('Until when one process has the right to renew its credential.', { optional: true }),
    metadata: customData,
    isPrimaryDirectory: flag(
      'Whether it is the directory from which the organization takes its people; one integration at most is.',
      {
        default: false,
        exposed: 'read-write',
      },
    ),
    sendsCampaigns: flag('Whether campaigns are sent through it.', { default: false, exposed: 'read-write' }),
  },
  displayId: 'INT',
  unique: [
    {
      fields: ['organizationId', 'name'],
      comparedAsName: 'name',
      message: 'The organization has an integration with this name.',
    },
    {
      fields: ['organizationId'],
      onlyIf: 'isPrimaryDirectory',
      names: 'isPrimaryDirectory',
      message:
        'Another integration is the primary directory of the organization already. Turn the flag off there first, then on here.',
    },
  ],
  indexes: [
    { fields: ['accountId'], where: 'account_id is not null' },
    { fields: ['expiresAt'], where: "deleted_at is null and status = 'pending'" },
    { fields: ['nextProbeAt'], where: "deleted_at is null and status in ('errored', 'disconnecting')" },
    { fields: ['nextSyncAt'], where: "deleted_at is null and status = 'connected'" },
  ],
  tenancy: 'organization',
  behaviours: [
    guarded({ needsPaymentMethod: true }),
    refusesChanges([
      {
        on: ['remove'],
        unlessSystem: true,
        refuseIf: `row.status in ('connected', 'errored', 'disabled', 'disconnecting')`,
        field: 'status',
        code: 'rule_violated',
        message:
          'The integration has a credential at the other system, which has to end there. Disconnect it with POST /v1/integrations/{id}/disconnect, which deletes it.',
      },
    ]),
    deprecated({
      create: { since: '2026-11-28', instead: 'configureIntegration' },
      delete: { since: '2026-11-28', instead: 'disconnectIntegration' },
    }),
  ],
  policy: managedRecord(),
  mutate: ['create', 'update', 'delete'],
  joins: [{ to: 'secret' }],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    connected: {
      description: 'Somebody has connected the integration, or it works again.',
      payload: payload({ before: Type.String({ description: 'Status that it had before.' }) }),
    },
    expiring: {
      description: 'The credential of the integration stops working soon: somebody has to connect it again before.',
      payload: payload({ expiresAt: Type.String({ description: 'When it stops working (RFC 3339).' }) }),
    },
    pushed: {
      description: 'The identity provider has changed the directory that it pushes.',
      payload: payload({}),
    },
    errored: {
      description: 'The other system refuses the credential of the integration: somebody has to connect it again.',
      payload: payload({ code: Type.String({ description: 'Code of the error.' }) }),
    },
  },
});
