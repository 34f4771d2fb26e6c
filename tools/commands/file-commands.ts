import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { copyProblems, countCopies, type CopyCounts } from '#entities/kit/objects/copy-counts.ts';
import { recordFileOperation, type FileOperation } from '#entities/kit/objects/file-operations.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';
import {
  auditStorageContract,
  type AuditReport,
  type AuditStorageInput,
} from '#workflows/files/audit-storage.contract.ts';
import {
  removeFilesContract,
  type RemovalReport,
  type RemoveFilesInput,
} from '#workflows/files/remove-files.contract.ts';
import {
  restoreFileContract,
  type OperatorReason,
  type RestoreFileInput,
  type RestoreOutcome,
} from '#workflows/files/restore-file.contract.ts';
import {
  restoreFilesContract,
  type RestoreFilesInput,
  type RestoreReport,
} from '#workflows/files/restore-files.contract.ts';
import {
  sweepBackupsContract,
  type BackupSweep,
  type SweepBackupsInput,
} from '#workflows/files/sweep-backups.contract.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import { followWorkflow } from './follow-workflow.ts';
import type { ToolContext } from './tool.ts';

/** A command about stored bytes, as an operator types it. */
export type FileCommand =
  | { readonly name: 'backups' }
  | ({ readonly name: 'restore'; readonly what: { readonly objectId: string } | 'missing' | 'all' } & OperatorReason)
  | ({ readonly name: 'purge'; readonly objectId: string } & OperatorReason)
  | { readonly name: 'audit' };

type FileTool = ToolContext<'database' | 'temporal' | 'storage'>;

const maxPrinted = 20;

/**
 * Runs a command and prints its progress and its result. The work is done by workers; interrupting the command does not stop it.
 * @returns whether all is well
 * @throws AppError workflows_unavailable, database_unavailable
 */
export async function runFileCommand(command: FileCommand, options: FileTool): Promise<boolean> {
  const { print } = options;
  if (command.name === 'backups') return backups(options);
  if (command.name === 'audit') return audit(options);
  const { operator, reason } = command;
  if (command.name === 'purge') {
    const input = { objectId: command.objectId, asked: { operator, reason } };
    const { removed, left } = await follow<RemovalReport, RemoveFilesInput>(options, removeFilesContract, input, {
      operation: { operation: 'purge', objectId: command.objectId, operator, reason },
    });
    if (removed === 1) print(`The file ${command.objectId} was removed, with its copies.`);
    else if (left > 0) print(`The bytes of ${command.objectId} could not be deleted; the next removal tries again.`);
    else
      print(
        `There is no released file ${command.objectId}. A file that a record owns is not removed: delete the record first.`,
      );
    return removed === 1;
  }
  if (typeof command.what === 'object') {
    const input = { objectId: command.what.objectId, asked: { operator, reason } };
    const outcome = await follow<RestoreOutcome, RestoreFileInput>(options, restoreFileContract, input, {
      operation: { operation: 'restore', objectId: command.what.objectId, operator, reason },
    });
    print(`${command.what.objectId}: ${outcomes[outcome]}`);
    return outcome === 'restored' || outcome === 'intact';
  }
  const input = { which: command.what, asked: { operator, reason } };
  const report = await follow<RestoreReport, RestoreFilesInput>(options, restoreFilesContract, input, {
    operation: { operation: `restore-${command.what}`, objectId: null, operator, reason },
    progressLine: ({ examined: count, counts: { restored } }) => `${count} files examined, ${restored} restored`,
  });
  const { examined, counts, lost } = report;
  print(`${examined} files examined, ${counts.restored} restored, ${counts.intact} intact.`);
  for (const { objectId, outcome } of lost.slice(0, maxPrinted)) print(`${objectId}: ${outcomes[outcome]}`);
  return lost.length === 0;
}

const outcomes: Readonly<Record<RestoreReport['lost'][number]['outcome'], string>> = {
  restored: 'restored from its copy, read back and compared',
  intact: 'its bytes are as they should be; nothing was changed',
  'no-copy': 'its bytes are missing or different, and it has no verified copy',
  'broken-copy': 'its bytes are missing or different, and so is its copy',
  unknown: 'there is no such file, or it is being removed',
  running: 'another run restores it now',
  error: 'the storage could not be used; see the workflow of this file, and run the command again',
};

async function backups(options: FileTool): Promise<boolean> {
  const { runtime, print, progressEveryMs = 2_000 } = options;
  const { moved, checked, spoilt } = await follow<BackupSweep, SweepBackupsInput>(options, sweepBackupsContract, {});
  print(`${moved} copies have to move, ${checked} were read again, ${spoilt} of them have to be made again.`);
  const isBackedUp = ({ provider }: CopyCounts) => runtime.storage.isBackedUp(provider);
  for (let last = ''; ; await pause(progressEveryMs)) {
    const counts = await inDatabase(runtime, countCopies);
    const line = counts.map((count) => lineOf(count, isBackedUp(count))).join('\n') || 'There are no files.';
    if (line !== last) print(line);
    last = line;
    if (counts.some((count) => isBackedUp(count) && count.due > 0)) continue;
    const problems = await inDatabase(runtime, (unit) => copyProblems(unit, maxPrinted));
    for (const { objectId, problem } of problems) print(`${objectId}: ${problem}`);
    return problems.length === 0;
  }
}

function lineOf({ provider, objects, verified, failed, due }: CopyCounts, isBackedUp: boolean): string {
  const state = isBackedUp ? `${due} waiting` : 'its backup is off';
  return `${provider}: ${objects} files, ${verified} with a verified copy, ${failed} failed, ${state}`;
}

async function audit(options: FileTool): Promise<boolean> {
  const { print } = options;
  const report = await follow<AuditReport, AuditStorageInput>(
    options,
    auditStorageContract,
    {},
    { progressLine: ({ rows, listed }) => `${rows} rows compared with ${listed} stored objects` },
  );
  print(`${report.rows} rows compared with ${report.listed} stored objects.`);
  print(`${report.missing} files were missing, ${report.restored} of them were restored.`);
  print(`${report.missingCopies} copies were missing and are made again.`);
  print(`${report.unknown} stored objects belong to no file; they stay.`);
  for (const { objectId, outcome } of report.lost.slice(0, maxPrinted)) print(`${objectId}: ${outcomes[outcome]}`);
  for (const key of report.unknownKeys.slice(0, maxPrinted)) print(`unknown: ${key}`);
  for (const place of report.unreachable) print(`not audited: ${place}`);
  return report.lost.length === 0 && report.unknown === 0 && report.unreachable.length === 0;
}

interface FollowedFiles<Result> {
  /** Arguments of the command. A run that exists already has recorded only who asked for it first. */
  readonly operation?: FileOperation;
  readonly progressLine?: (progress: Result) => string;
}

/** Starts a workflow, or finds it running, shows its progress, and waits for its result. */
function follow<Result, Input>(
  { runtime, print, progressEveryMs }: FileTool,
  contract: WorkflowContract<Input>,
  input: StartInput<Input>,
  { operation, progressLine }: FollowedFiles<Result> = {},
): Promise<Result> {
  const whenFound = async () => {
    if (operation) await inDatabase(runtime, (unit) => recordFileOperation(unit, operation), false);
  };
  return followWorkflow<Result, Input>(contract, input, {
    temporal: runtime.temporal,
    print,
    progressEveryMs,
    progressLine,
    whenFound,
  });
}

function inDatabase<T>(
  { database }: Pick<CoreRuntime, 'database'>,
  work: (unit: UnitOfWork) => Promise<T>,
  readOnly = true,
): Promise<T> {
  const context = { caller: systemCaller('file commands'), requestId: `files-${newId()}`, readOnly };
  return database.transact(context, work);
}
