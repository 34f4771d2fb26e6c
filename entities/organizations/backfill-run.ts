import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, integer, json, text, timestamp } from '../kit/model/fields.ts';
import { internalKind } from '../presets/internal-kind.ts';

const counter = { min: 0, max: Number.MAX_SAFE_INTEGER, default: 0 } as const;

/** Decides what is done: Temporal forgets the runs of workflows. */
export const backfillRun = defineEntityModule({
  kind: 'backfillRun',
  table: 'backfill_runs',
  description: 'Run of a version of a backfill, which gives existing records what a new release needs.',
  fields: {
    routine: text('Name of the backfill.', { max: 60, immutable: true }),
    version: integer('Version of the backfill. A higher version runs again.', { min: 1, max: 10_000, immutable: true }),
    status: choice('Status of the run.', ['running', 'completed'], { default: 'running' }),
    position: text('Id of the last record of the last page; null before the first page.', { max: 26, optional: true }),
    examinedRecords: integer('Number of records that the run has looked at.', counter),
    changedRecords: integer('Number of records that it has changed or created.', counter),
    failures: json('Records that failed and are not repeated yet, each with the reason.', {
      maxBytes: 1_048_576,
      optional: true,
    }),
    completedAt: timestamp('When the last page ended; null until then.', { optional: true }),
  },
  unique: [{ fields: ['routine', 'version'], message: 'This version of the backfill already has a run.' }],
  ...internalKind('a backfill is work of the installation on the records of all organizations'),
  events: [],
  customEvents: {
    completed: {
      description: 'A backfill has looked at all records.',
      payload: payload({
        routine: Type.String({ description: 'Name of the backfill.' }),
        version: Type.Integer({ description: 'Version of the backfill.' }),
        changed: Type.Integer({ description: 'Number of records that it has changed or created.' }),
        failed: Type.Integer({ description: 'Number of records that failed and are not repeated yet.' }),
      }),
    },
  },
});
