import { AppError } from '#entities/kit/base/errors.ts';
import { missingRecord } from '#entities/kit/model/missing-record.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { limitingToken } from '#entities/kit/model/caller.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { export as exportKind, import as importKind } from '#entities/index.ts';

type TransferKind = typeof exportKind | typeof importKind;

/** Operations of people on work that they have started. */
export interface Steering {
  /** Name of the mutation before the name of the type, and last part of the path of the route. */
  readonly verb: 'cancel' | 'restart';
  readonly description: (what: string) => string;
  /** @throws AppError not_found, permission_denied; invalid_input for work in another status */
  readonly run: (unit: UnitOfWork, kind: TransferKind, id: string) => Promise<void>;
}

export const transferKinds: readonly TransferKind[] = [exportKind, importKind];

export const steerings: readonly Steering[] = [
  {
    verb: 'cancel',
    description: (what) =>
      `Stops an ${what} that is pending or running.${what === 'import' ? ' A cancelled import has written nothing.' : ''} Refused if it has already ended.`,
    run: async (unit, kind, id) => {
      const { status } = await lockedTransfer(unit, kind, id);
      if (status !== 'pending' && status !== 'running') throw wrongStatus(kind, status, 'cancelled');
      await unit.data.update(kind, id, { status: 'cancelled', finishedAt: unit.clock.now() } as never);
    },
  },
  {
    verb: 'restart',
    description: (what) => `Starts an ${what} again that has failed, was cancelled or has expired.`,
    run: async (unit, kind, id) => {
      const row = await lockedTransfer(unit, kind, id);
      if (!['failed', 'cancelled', 'expired'].includes(row.status))
        throw wrongStatus(kind, row.status, 'started again');
      await unit.data.update(kind, id, {
        status: 'pending',
        runId: null,
        finishedAt: null,
        // The work has the rights of whoever starts it again.
        tokenId: limitingToken(unit.context.caller),
      } as never);
      unit.emit(customEvent(kind as typeof importKind, 'restarted', row, {}));
    },
  },
];

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
