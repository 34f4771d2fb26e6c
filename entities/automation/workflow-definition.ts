import { Type } from 'typebox';
import { checkedBy } from '../kit/behaviours/checked-by.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, integer, text, timestamp } from '../kit/model/fields.ts';
import { organizationRecord } from '../presets/organization-record.ts';
import { creatorField, descriptionField } from '../presets/usual-fields.ts';
import { definitionCheck } from './document/refuse-definition.ts';
import { documentField, recordKindField } from './definition-fields.ts';

/** Everybody in the organization reads definitions: they say why a change is held. */
export const workflowDefinition = defineEntityModule({
  kind: 'workflowDefinition',
  table: 'workflow_definitions',
  description:
    'Definition of a workflow: which changes start it, and what then happens. Publishing makes a version of it, which is in force until the next one.',
  fields: {
    name: text('Name in one line.', { max: 160, exposed: 'read-write', lists: ['filter', 'order', 'search'] }),
    description: descriptionField('Purpose of the workflow, in some lines.'),
    recordKind: { ...recordKindField, exposed: 'read-write' },
    document: documentField('Triggers, conditions and actions of the draft: a JSON object (docs/workflows.md).'),
    cooldownSeconds: integer(
      'Time after a start in which the definition starts no other instance for the same record, in seconds.',
      {
        min: 0,
        max: 31_536_000,
        default: 0,
        exposed: 'read-write',
      },
    ),
    status: choice(
      'Whether a version of it is in force: published. A retired one starts nothing any more.',
      ['draft', 'published', 'retired'],
      {
        default: 'draft',
        exposed: 'read',
        lists: ['filter'],
      },
    ),
    publishedVersion: integer('Number of the newest version; null before the first one.', {
      min: 1,
      max: 1_000_000,
      optional: true,
      exposed: 'read',
    }),
    publishedAt: timestamp('When that version was published.', { optional: true, exposed: 'read', lists: ['order'] }),
    creatorId: creatorField('Person who made it.'),
  },
  displayId: 'WFD',
  tenancy: 'organization',
  behaviours: [
    checkedBy({ check: definitionCheck, code: 'definition_invalid', fields: ['recordKind', 'document'] }),
    refusesChanges([
      {
        on: ['remove'],
        unlessSystem: true,
        refuseIf: `row.status = 'published'`,
        field: 'status',
        code: 'rule_violated',
        message: 'The definition is published. Retire it first.',
      },
      {
        on: ['remove'],
        unlessSystem: true,
        refuseIf: `exists (select 1 from workflow_instances i
          where i.definition_id = row.id and i.ended_at is null and i.deleted_at is null)`,
        field: 'status',
        code: 'rule_violated',
        message:
          'Workflows of the definition are open, and would be deleted with it. Wait for them, or cancel them first.',
      },
    ]),
  ],
  policy: organizationRecord(),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    published: {
      description: 'A version of the definition is in force from now on.',
      payload: payload({ number: Type.Integer({ description: 'Number of the version.' }) }),
    },
    retired: { description: 'The definition starts nothing any more.', payload: payload({}) },
    evaluation_failed: {
      description: 'Nobody knows whether a change starts the definition, because an expression of it has failed.',
      payload: payload({
        number: Type.Integer({ description: 'Number of the version.' }),
        recordId: Type.String({ description: 'Id of the changed record.' }),
        message: Type.String({ description: 'Reason, as text for people.' }),
        userIds: Type.Array(Type.String(), { description: 'Id of the person who published the version.' }),
      }),
    },
  },
});
