import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { flag, reference, text } from '../kit/model/fields.ts';
import { mentioned } from '../kit/model/composed/people-events.ts';
import { ownedRecord } from '../presets/owned-record.ts';
import { creatorField } from '../presets/usual-fields.ts';

export const note = defineEntityModule({
  kind: 'note',
  table: 'notes',
  description:
    'Comment on a task or in a discussion. Without either it is a note of its own, which only its author and the owners of the organization see.',
  fields: {
    title: text('Title.', { max: 500, optional: true, exposed: 'read-write', lists: ['search'] }),
    text: text('Text of the note.', {
      max: 50_000,
      lines: true,
      mentions: true,
      exposed: 'read-write',
      lists: ['search'],
    }),
    isEdited: flag('Whether the note was edited after its creation.', { default: false, exposed: 'read' }),
    ownerId: creatorField('Author.'),
    taskId: reference('task', 'Task that the note comments on; everybody who may view the task may view the note.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    discussionId: reference(
      'discussion',
      'Discussion that the note is part of; everybody who may view the discussion may view the note.',
      {
        optional: true,
        immutable: true,
        onDelete: 'cascade',
        announcesLeaving: 'left_discussion',
        exposed: 'read-write',
        lists: ['filter'],
      },
    ),
  },
  displayId: 'NTE',
  tenancy: 'organization',
  policy: ownedRecord({ parents: ['taskId', 'discussionId'] }),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    mentioned,
    left_discussion: {
      description: 'A comment was deleted from a discussion that still exists.',
      payload: payload({ id: Type.String({ description: 'Id of the discussion.' }) }),
    },
  },
  hooks: { derivedValues: (_values, { operation }) => (operation === 'update' ? { isEdited: true } : {}) },
  grants: [{ object: { kind: 'note', id: 'id' }, relation: 'owner', subject: { kind: 'user', id: 'ownerId' } }],
});
