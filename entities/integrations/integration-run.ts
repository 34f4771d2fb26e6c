import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, integer, json, reference, text, timestamp } from '../kit/model/fields.ts';
import { reportedRecord } from '../presets/reported-record.ts';

/** `waiting`: a person has to confirm what the run would remove. The statuses after it are ends. */
const runStatuses = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;

const count = (description: string) =>
  integer(description, { min: 0, max: 2_147_483_647, default: 0, exposed: 'read', lists: ['order'] });

export const integrationRun = defineEntityModule({
  kind: 'integrationRun',
  table: 'integration_runs',
  description: 'One execution of an operation of an integration, with its progress and its result.',
  fields: {
    integrationId: reference('integration', 'Integration whose operation is executed.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'runs',
      exposed: 'read',
      lists: ['filter'],
    }),
    operationName: text('Name of the operation, as the definition of the integration names it.', {
      max: 64,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    trigger: choice('Cause of the run.', ['person', 'schedule', 'webhook', 'workflow'], {
      default: 'person',
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    status: choice('Status of the run.', runStatuses, { default: 'pending', exposed: 'read', lists: ['filter'] }),
    input: json('Input of the operation.', { maxBytes: 16_384, optional: true, immutable: true, exposed: 'read' }),
    result: json('Result of an operation that brings no records in.', {
      maxBytes: 16_384,
      optional: true,
      exposed: 'read',
    }),
    startedAt: timestamp('When it began to work.', { optional: true, exposed: 'read', lists: ['order'] }),
    endedAt: timestamp('When it ended.', { optional: true, exposed: 'read', lists: ['filter', 'order'] }),
    readRecords: count('Number of records that the other system has sent so far.'),
    createdRecords: count('Number of records that it has created.'),
    updatedRecords: count('Number of records that it has changed.'),
    unchangedRecords: count('Number of records that were as the other system has them.'),
    filteredRecords: count(
      'Number of records that were left out: by a filter, because an earlier one of the run has the same id, or because their account or group was left out.',
    ),
    failedRecords: count('Number of records that could not be taken over.'),
    removedRecords: count('Number of records that it has removed, because the other system no longer has them.'),
    pendingRemovals: count('Number of records that it removes once a person has confirmed it.'),
    failures: json(
      'The first hundred records that could not be taken over, or repeat the id of an earlier one, each with its id at the other system and the reason.',
      {
        maxBytes: 65_536,
        optional: true,
        exposed: 'read',
      },
    ),
    errorCode: text('Code of the error with which it ended.', { max: 64, optional: true, exposed: 'read' }),
    errorMessage: text('Description of the error, and the remedy.', {
      max: 2_000,
      lines: true,
      optional: true,
      exposed: 'read',
    }),
    cursor: text(
      'Position in the other system from which the run continues; `asked` once an operation that answers at once may have been requested.',
      {
        max: 65_536,
        lines: true,
        optional: true,
      },
    ),
    pages: integer('Number of pages that are taken over.', { min: 0, max: 2_147_483_647, default: 0 }),
    restarts: integer('How often it began again, because its position was not valid any more.', {
      min: 0,
      max: 100,
      default: 0,
    }),
    instanceId: text('Id of the workflow instance that has requested it; null if none has.', {
      max: 26,
      optional: true,
      immutable: true,
      exposed: 'read',
    }),
    openKey: text(
      'Ids of integration and operation while it is open: an operation of an integration runs once at a time.',
      {
        max: 100,
        optional: true,
      },
    ),
  },
  unique: [{ fields: ['openKey'], message: 'The operation is running for this integration already.' }],
  tenancy: 'organization',
  policy: reportedRecord(),
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    confirmed: { description: 'Somebody has confirmed what the run removes.', payload: payload({}) },
    ended: {
      description: 'The run has ended, or waits for a confirmation.',
      payload: payload({ status: Type.String({ description: 'Status of the run.' }) }),
    },
  },
  hooks: {
    derivedValues: ({ endedAt }) => (endedAt ? { openKey: null } : {}),
  },
});
