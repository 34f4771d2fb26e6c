import { Context } from '@temporalio/activity';
import { definitionOf } from '../../clients/integrations/definitions.ts';
import { defineActivities } from '../../kit/activity-dependencies.ts';
import { retriedAsAsked } from '../runs/retried-as-asked.ts';
import type { RunDependencies } from '../runs/run-work.ts';
import { advanceRound, giveUpRound, type Loop, type LoopDependencies, type Round } from './advance-round.ts';

export type LoopActivities = ReturnType<typeof createLoopActivities>;

/** Rounds of loops. */
export const createLoopActivities = defineActivities((services: RunDependencies) =>
  loopActivities({ ...services, definitionOf }),
);

/** Rounds of loops of these definitions. */
export const loopActivities = (dependencies: LoopDependencies) => ({
  /** Begins a pass, or continues it, until it has ended or half of the time of the attempt is over. */
  advanceLoop: ({ budgetMs, ...loop }: Loop & { readonly budgetMs: number }): Promise<Round> =>
    retriedAsAsked(() => advanceRound(dependencies, loop, { budgetMs, signal: Context.current().cancellationSignal })),

  /** Ends a pass that was tried often enough, or whose loop is stopped. @returns the pause before the next round, in milliseconds */
  giveUpRound: ({ isStopped, ...loop }: Loop & { readonly isStopped: boolean }): Promise<number> =>
    giveUpRound(dependencies, loop, isStopped),
});
