import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { flag, integer, member, reference, textList, timestamp } from '../kit/model/fields.ts';
import { allow, system } from '../kit/model/policy.ts';
import { organizationRecord } from '../presets/organization-record.ts';
import { documentField, recordKindField, timingField } from './definition-fields.ts';

/** Versions never change, but for the time at which they end, so what is known of one by its id stays true. */
export const workflowVersion = defineEntityModule({
  kind: 'workflowVersion',
  table: 'workflow_versions',
  description:
    'Published version of a workflow definition. It never changes; an event meets the version that was in force when it happened, and a workflow ends with the version with which it began.',
  fields: {
    definitionId: reference('workflowDefinition', 'Definition of which it is a version.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'versions',
      exposed: 'read',
      lists: ['filter'],
    }),
    number: integer('Number of the version, from 1.', {
      min: 1,
      max: 1_000_000,
      immutable: true,
      exposed: 'read',
      lists: ['filter', 'order'],
    }),
    recordKind: recordKindField,
    document: {
      ...documentField('Triggers, conditions and actions: a JSON object.'),
      exposed: 'read',
      immutable: true,
    },
    timing: { ...timingField, immutable: true },
    cooldownSeconds: integer('Time between two instances for the same record at least, in seconds.', {
      min: 0,
      max: 31_536_000,
      default: 0,
      immutable: true,
      exposed: 'read',
    }),
    topics: textList('Topics of the events that it wants: those of its triggers.', { max: 100, maxItems: 10 }),
    gatedFields: textList('Fields whose changes it holds; empty for a version that holds none.', {
      max: 64,
      maxItems: 100,
      exposed: 'read',
    }),
    isGate: flag('Whether it holds changes or deletions until they are approved.', {
      default: false,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    publishedAt: timestamp('From when it is in force.', { immutable: true, exposed: 'read', lists: ['order'] }),
    endedAt: timestamp('Until when it was in force: a newer version was published, or the definition retired.', {
      optional: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    publisherId: member('Person who published it: its actions have the rights that this person has when they run.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      reverse: 'publishedWorkflows',
      exposed: 'read',
      lists: ['filter'],
    }),
  },
  unique: [{ fields: ['definitionId', 'number'], message: 'The version was published meanwhile; try again.' }],
  indexes: [{ fields: ['organizationId'], where: 'ended_at is null' }],
  tenancy: 'organization',
  behaviours: [decidesCallers({ of: 'organizationId', by: ['isGate', 'endedAt'] })],
  policy: {
    ...organizationRecord(),
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  events: ['created', 'updated'],
});
