import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, integer, json, reference, text, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { creatorField } from '../presets/usual-fields.ts';
import { documentField, recordKindField } from './definition-fields.ts';

/** Days of history that a dry run looks at, at most. */
export const maxDryRunDays = 90;

const count = (description: string) =>
  integer(description, { min: 0, max: 2_147_483_647, default: 0, exposed: 'read', lists: ['order'] });

export const workflowDryRun = defineEntityModule({
  kind: 'workflowDryRun',
  table: 'workflow_dry_runs',
  description:
    'Trial of a workflow definition over past changes: which of them it would have started for, and who would have been asked. It changes nothing.',
  fields: {
    definitionId: reference('workflowDefinition', 'Definition that is tried.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'dryRuns',
      exposed: 'read',
      lists: ['filter'],
    }),
    recordKind: recordKindField,
    document: {
      ...documentField('Document that is tried: the draft at the time of the request.'),
      exposed: 'read',
      immutable: true,
    },
    days: integer('Days of history that it looks at.', {
      min: 1,
      max: maxDryRunDays,
      default: 30,
      immutable: true,
      exposed: 'read',
    }),
    status: choice('Status of the work.', ['running', 'completed', 'failed'], {
      default: 'running',
      exposed: 'read',
      lists: ['filter'],
    }),
    totalChanges: count('Number of changes in this time.'),
    readChanges: count('Number of changes that it has looked at so far.'),
    starts: count('Number of changes for which the definition would have started.'),
    failures: count(
      'Number of changes of which it is not known whether it would have started, because an expression failed.',
    ),
    cost: text('Cost of all expressions so far, in the units of workflows.cel.costlimit.', {
      max: 40,
      default: '0',
      exposed: 'read',
    }),
    report: json(
      'Result: the first starts and failures with their records, and how often each person would have been asked.',
      { maxBytes: 262_144, optional: true, exposed: 'read' },
    ),
    position: json('Last change that it has looked at.', { maxBytes: 1_000, optional: true }),
    errorMessage: text('Why it failed, as text for people.', {
      max: 2_000,
      lines: true,
      optional: true,
      exposed: 'read',
    }),
    finishedAt: timestamp('When it was completed, or failed.', { optional: true, exposed: 'read' }),
    creatorId: creatorField('Person who asked for it.'),
  },
  tenancy: 'organization',
  behaviours: [guarded({ closedToDelegates: 'changes' })],
  policy: managedRecord(),
  mutate: ['delete'],
  events: ['created', 'updated', 'deleted'],
});
