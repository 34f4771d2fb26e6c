import { defineEntityModule } from '../kit/model/define.ts';
import { flag, reference, text } from '../kit/model/fields.ts';
import { ownedRecord } from '../presets/owned-record.ts';
import { creatorField } from '../presets/usual-fields.ts';

export const discussion = defineEntityModule({
  kind: 'discussion',
  table: 'discussions',
  description: 'Thread of notes. Callers who may view the record that it is about can read it.',
  fields: {
    externalId: text('Id of the discussion in another system.', {
      max: 200,
      optional: true,
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    isResolved: flag('Whether the discussion has ended.', { default: false, exposed: 'read-write', lists: ['filter'] }),
    ownerId: creatorField('Person who began the discussion.'),
    taskId: reference('task', 'Task that the discussion is about.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      exposed: 'read-write',
      lists: ['filter'],
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'externalId'],
      names: 'externalId',
      message: 'There is a discussion with this external id.',
    },
  ],
  tenancy: 'organization',
  policy: ownedRecord({ parents: ['taskId'] }),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  grants: [{ object: { kind: 'discussion', id: 'id' }, relation: 'owner', subject: { kind: 'user', id: 'ownerId' } }],
});
