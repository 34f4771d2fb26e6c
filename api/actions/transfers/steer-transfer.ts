import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { limitingToken } from '#entities/kit/model/caller.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { export as exportKind, import as importKind } from '#entities/index.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

type TransferKind = typeof exportKind | typeof importKind;

export const cancelExport = cancellation(exportKind, {
  name: 'cancelExport',
  url: '/v1/exports/:id/cancel',
  tag: 'Exports',
  summary: 'Cancel one export',
  description: 'Stops an export that is pending or running. Refused if it has already ended.',
});

export const cancelImport = cancellation(importKind, {
  name: 'cancelImport',
  url: '/v1/imports/:id/cancel',
  tag: 'Imports',
  summary: 'Cancel one import',
  description:
    'Stops an import that is pending or running. A cancelled import has written nothing. Refused if it has already ended.',
});

export const restartExport = restart(exportKind, {
  name: 'restartExport',
  url: '/v1/exports/:id/restart',
  tag: 'Exports',
  summary: 'Restart one export',
  description: 'Starts an export again that has failed, was cancelled or has expired.',
});

export const restartImport = restart(importKind, {
  name: 'restartImport',
  url: '/v1/imports/:id/restart',
  tag: 'Imports',
  summary: 'Restart one import',
  description: 'Starts an import again that has failed, was cancelled or has expired.',
});

interface Texts {
  readonly name: string;
  readonly url: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
}

function cancellation(kind: TransferKind, texts: Texts) {
  return steering(kind, texts, async (unit, { id, status }) => {
    if (status !== 'pending' && status !== 'running') throw wrongStatus(kind, status, 'cancelled');
    await unit.data.update(kind, id, { status: 'cancelled', finishedAt: unit.clock.now() } as never);
  });
}

function restart(kind: TransferKind, texts: Texts) {
  return steering(kind, texts, async (unit, row) => {
    if (!['failed', 'cancelled', 'expired'].includes(row.status)) throw wrongStatus(kind, row.status, 'started again');
    await unit.data.update(kind, row.id, {
      status: 'pending',
      runId: null,
      finishedAt: null,
      // The work has the rights of whoever starts it again.
      tokenId: limitingToken(unit.context.caller),
    } as never);
    unit.emit(customEvent(kind as typeof importKind, 'restarted', row, {}));
  });
}

function steering(kind: TransferKind, texts: Texts, change: (unit: UnitOfWork, row: LockedTransfer) => Promise<void>) {
  return defineAction({
    ...texts,
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    input: { id: idSchema('Id of the record.') },
    answer: { [kind.kind]: recordOf(kind) },
    errors: ['not_found', 'permission_denied', 'rule_violated', 'limit_exceeded'],
    run: async ({ unit }, { id }) => {
      const row = await lockedTransfer(unit, kind, existingId(kind, id));
      await change(unit, row);
      return { [kind.kind]: row.id };
    },
  });
}

interface LockedTransfer {
  readonly id: string;
  readonly status: string;
  readonly organizationId: string;
  readonly recordVersion: number;
}

async function lockedTransfer(unit: UnitOfWork, kind: TransferKind, id: string): Promise<LockedTransfer> {
  const row: LockedTransfer | undefined = await unit.data.findLocked(kind, id);
  if (!row) throw missingRecord(kind, id);
  return row;
}

function wrongStatus({ kind }: TransferKind, status: string, wanted: string): AppError {
  const message = `The ${kind} is ${status}, so it cannot be ${wanted}.`;
  return new AppError('rule_violated', message, { details: { fields: [{ path: '/status', message }] } });
}
