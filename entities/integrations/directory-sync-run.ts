import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, integer, reference, text, timestamp } from '../kit/model/fields.ts';
import { reportedRecord } from '../presets/reported-record.ts';

const count = (description: string) =>
  integer(description, { min: 0, max: 2_147_483_647, default: 0, exposed: 'read' });

export const directorySyncRun = defineEntityModule({
  kind: 'directorySyncRun',
  table: 'directory_sync_runs',
  description:
    'One pass over a directory. Only a complete pass without failures says which accounts, groups and memberships the directory no longer has.',
  fields: {
    integrationId: reference('integration', 'Integration of the directory.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'directorySyncRuns',
      exposed: 'read',
      lists: ['filter'],
    }),
    runId: reference('integrationRun', 'Run that makes the pass.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'directorySyncRuns',
      exposed: 'read',
      lists: ['filter'],
    }),
    status: choice('Status of the pass.', ['running', 'waiting', 'completed', 'failed', 'cancelled'], {
      default: 'running',
      exposed: 'read',
      lists: ['filter'],
    }),
    isComplete: flag('Whether the whole directory was read without a failure, so that missing records are removed.', {
      default: false,
      exposed: 'read',
    }),
    seenAccounts: count('Number of accounts that the directory has.'),
    seenGroups: count('Number of groups that the directory has.'),
    seenMemberships: count('Number of memberships that the directory has.'),
    removedAccounts: count('Number of accounts that the pass has removed.'),
    removedGroups: count('Number of groups that the pass has removed.'),
    removedMemberships: count('Number of memberships that the pass has removed.'),
    errorMessage: text('Why it is not complete, and what to do about it.', {
      max: 2_000,
      lines: true,
      optional: true,
      exposed: 'read',
    }),
    endedAt: timestamp('When it ended.', { optional: true, exposed: 'read', lists: ['order'] }),
  },
  unique: [{ fields: ['runId'], message: 'The run makes a pass already.' }],
  tenancy: 'organization',
  policy: reportedRecord(),
  events: ['created', 'updated', 'deleted'],
});
