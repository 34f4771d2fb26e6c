import { Type } from 'typebox';
import { idPattern } from '../kit/base/ids.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { reachable } from '../kit/model/behaviours/reachable.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, email, integer, text, textList, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';
import { internalRecord } from '../presets/internal-record.ts';

export const organizationRemoval = defineEntityModule({
  kind: 'organizationRemoval',
  table: 'organization_removals',
  description:
    'Removal of the contents of a deleted organization. They are inaccessible from its deletion on; the server removes them afterwards.',
  fields: {
    organizationName: text('Name that the organization had.', { max: 160, immutable: true, exposed: 'read' }),
    removedOrganizationId: text('Id that it had.', {
      max: 26,
      pattern: idPattern,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    requesterId: text('Id of the person who deleted it; null if the server did.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    noticeEmail: email('Address for invoices that the organization had, which is notified of the deletion.', {
      optional: true,
    }),
    status: choice(
      'Status of the removal; undoing while an operator has the organization restored.',
      ['pending', 'running', 'completed', 'undoing'],
      { default: 'pending', exposed: 'read', lists: ['filter'] },
    ),
    openSteps: textList('Steps of the removal that have begun or wait, and have not ended.', {
      max: 64,
      maxItems: 50,
      exposed: 'read',
    }),
    skippedSteps: textList('Steps that an operator has skipped, because they kept failing.', {
      max: 64,
      maxItems: 50,
      exposed: 'read',
    }),
    totalRecords: integer('Number of records to remove; null until the removal has begun.', {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      optional: true,
      exposed: 'read',
    }),
    removedRecords: integer('Number of records that are removed.', {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      default: 0,
      exposed: 'read',
    }),
    completedAt: timestamp('When the last step ended.', { optional: true, exposed: 'read' }),
  },
  unique: [{ fields: ['removedOrganizationId'], message: 'The contents of this organization are removed already.' }],
  indexes: [['requesterId']],
  tenancy: { none: 'its organization is deleted; the person who deleted it sees the progress of the removal' },
  behaviours: [reachable({ rlsUsing: 'requester_id = $user' }), guarded({ needsSession: true })],
  policy: { ...internalRecord(), view: [allow(system), allow(self('requesterId')), deny(anyone)] },
  events: ['created', 'updated'],
  customEvents: {
    announced: {
      description: 'The server has deleted an organization, and notifies the people who manage it.',
      payload: payload({
        userIds: Type.Array(Type.String(), {
          description: 'Ids of those who managed it, and of the owners of the organizations below it.',
        }),
      }),
    },
    completed: {
      description: 'The contents of a deleted organization are removed.',
      payload: payload({
        removedRecords: Type.Integer({ description: 'Number of records that were removed.' }),
        skippedSteps: Type.Array(Type.String(), { description: 'Steps that an operator has skipped.' }),
      }),
    },
    undo_requested: {
      description: 'An operator has a deleted organization restored.',
      payload: payload({}),
    },
  },
});
