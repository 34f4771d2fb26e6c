import type { definitionOf } from '../../clients/integrations/definitions.ts';
import { loopedOperations, wantedLoops } from '../../clients/integrations/wanted-loops.ts';
import { endOpenRun, type Run } from '#entities/integrations/runs/end-run.ts';
import { openRun, requestRun } from '#entities/integrations/runs/request-run.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import { integration } from '#entities/integrations/integration.ts';
import { noteSync } from '#entities/integrations/sync-time-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { loopPauses } from '#workflows/integrations/reconcile-integration.contract.ts';
import { advanceRun } from '../runs/advance-run.ts';
import { failInUnit } from '../runs/fail-run.ts';
import { transact, type RunDependencies } from '../runs/run-work.ts';

export interface LoopDependencies extends RunDependencies {
  readonly definitionOf: typeof definitionOf;
}

export interface Loop {
  readonly integrationId: string;
  readonly operation: string;
  /** Pause before this round, in milliseconds. */
  readonly pauseMs: number;
}

/** `ended`: the integration does not want the loop; `unfinished`: the pass continues after the pause; `done`: the next round follows it. */
export interface Round {
  readonly status: 'ended' | 'unfinished' | 'done';
  readonly pauseMs: number;
}

type Definitions = Pick<LoopDependencies, 'definitionOf'>;

const ended: Round = { status: 'ended', pauseMs: 0 };

/** One call of a round, in which it begins a pass or continues the one that it began. */
export async function advanceRound(
  dependencies: LoopDependencies,
  loop: Loop,
  options: { readonly budgetMs: number; readonly signal?: AbortSignal },
): Promise<Round> {
  const begun = await transact(dependencies, (unit) => beginRound(dependencies, unit, loop));
  if (begun === 'ended') return ended;
  // The run of a person brings the same in.
  if (begun === 'busy') {
    const pauseMs = loopPauses.minMs;
    const isOpen = await transact(dependencies, (unit) =>
      noteNext(dependencies, unit, loop, { pauseMs, isRead: false }),
    );
    return isOpen ? { status: 'done', pauseMs } : ended;
  }
  const { isDone, pauseMs } = await advanceRun(dependencies, begun.id, options);
  if (!isDone) return { status: 'unfinished', pauseMs };
  return transact(dependencies, (unit) => endRound(dependencies, unit, loop, begun.id));
}

/** The pass of this round; the one that was begun is continued. */
async function beginRound(
  dependencies: Definitions,
  unit: UnitOfWork,
  { integrationId, operation }: Loop,
): Promise<Run | 'ended' | 'busy'> {
  const row = await unit.data.findLocked(integration, integrationId);
  const open = await openRun(unit.data, integrationId, operation);
  if (!row || !isWanted(dependencies, row, operation)) {
    if (open?.trigger === 'schedule') await cancel(unit, open);
    return 'ended';
  }
  if (!open || open.status === 'waiting') return requestRun(unit, { integration: row, operation, trigger: 'schedule' });
  return open.trigger === 'schedule' ? open : 'busy';
}

function cancel(unit: UnitOfWork, { id }: Run): Promise<void> {
  const message =
    'The integration is not connected any more, or the operation is turned off. Connect the integration again to read it.';
  return endOpenRun(unit, id, { status: 'cancelled', error: { code: 'not_connected', message } });
}

/** A pass that has found changes lets the next one follow sooner. */
async function endRound(dependencies: Definitions, unit: UnitOfWork, loop: Loop, runId: string): Promise<Round> {
  const run = await unit.data.findOne(integrationRun, { id: { eq: runId } });
  const isRead = run?.status === 'succeeded' || run?.status === 'waiting';
  const changes = run ? run.createdRecords + run.updatedRecords + run.removedRecords : 0;
  const pauseMs = run?.status === 'succeeded' && changes > 0 ? shorter(loop.pauseMs) : longer(loop.pauseMs);
  const isOpen = await noteNext(dependencies, unit, loop, { pauseMs, isRead });
  return isOpen ? { status: 'done', pauseMs } : ended;
}

/** @returns whether the integration still wants the loop */
async function noteNext(
  dependencies: Definitions,
  unit: UnitOfWork,
  loop: Loop,
  { pauseMs, isRead }: { readonly pauseMs: number; readonly isRead: boolean },
): Promise<boolean> {
  const row = await unit.data.findOne(integration, { id: { eq: loop.integrationId } });
  if (!row || !isWanted(dependencies, row, loop.operation)) return false;
  const now = unit.clock.now();
  await noteSync(unit, row.id, {
    lastSyncAt: isRead ? now : null,
    nextSyncAt: new Date(now.getTime() + pauseMs),
    isSole: loopedOperations(dependencies.definitionOf(row.definitionId)).length === 1,
  });
  return true;
}

/** Ends the pass of a round that has failed for good, or whose loop is stopped. @returns the pause before the next round */
export function giveUpRound(
  dependencies: Definitions & Pick<RunDependencies, 'database'>,
  loop: Loop,
  isStopped: boolean,
): Promise<number> {
  return transact(dependencies, async (unit) => {
    const pauseMs = longer(loop.pauseMs);
    const open = await openRun(unit.data, loop.integrationId, loop.operation);
    if (open?.trigger === 'schedule' && isStopped) await cancel(unit, open);
    else if (open?.trigger === 'schedule') await failInUnit(unit, open.id);
    if (!isStopped) await noteNext(dependencies, unit, loop, { pauseMs, isRead: false });
    return pauseMs;
  });
}

function isWanted({ definitionOf: find }: Definitions, row: RowOf<typeof integration>, operation: string): boolean {
  return wantedLoops(row, find(row.definitionId)).includes(operation);
}

function shorter(pauseMs: number): number {
  return Math.max(loopPauses.minMs, Math.ceil(pauseMs / 2));
}

function longer(pauseMs: number): number {
  return Math.min(loopPauses.maxMs, Math.max(loopPauses.minMs, pauseMs) * 2);
}
