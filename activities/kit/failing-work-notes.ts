import { searchValuesOf } from '../clients/temporal/search-values.ts';
import type { ActivityDependencies } from './activity-dependencies.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import {
  endFailures,
  noteFailures,
  shownAttempts,
  type WorkFailure,
  type WorkPlace,
} from '#entities/kit/outbox/failing-work.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

export interface FailedAttempt extends Pick<WorkFailure, 'status' | 'attempts' | 'error'> {
  /** Time until the next attempt, in milliseconds; null where there is none, or nobody knows. */
  readonly pauseMs: number | null;
  /** Nobody has reported it: the attempts before took too long, or their worker was lost. */
  readonly isGuess?: true;
}

/** Where it is kept which activities fail. */
export class FailingWorkNotes {
  readonly shownAttempts = shownAttempts;
  readonly #parts: Pick<ActivityDependencies, 'database' | 'temporal'>;

  constructor(parts: Pick<ActivityDependencies, 'database' | 'temporal'>) {
    this.#parts = parts;
  }

  /** Keeps that work has failed, with what its workflow says about whose it is. */
  async failed(place: WorkPlace, { pauseMs, isGuess, ...failure }: FailedAttempt): Promise<void> {
    const { database, temporal } = this.#parts;
    const handle = temporal.client.workflow.getHandle(place.workflowId, place.runId);
    const run = await temporal.call('find a workflow', () => handle.describe());
    const at = database.options.clock.now();
    const nextAttemptAt = pauseMs === null ? null : new Date(at.getTime() + pauseMs);
    await this.#transact((unit) =>
      noteFailures(unit, [{ ...place, ...searchValuesOf(run), ...failure, nextAttemptAt, at }], isGuess),
    );
  }

  /** It is listed no more until it fails again. */
  async succeeded({ key }: WorkPlace): Promise<void> {
    await this.#transact((unit) => endFailures(unit, [key]));
  }

  async #transact(work: (unit: UnitOfWork) => Promise<void>): Promise<void> {
    await this.#parts.database.transact({ caller: systemCaller('failing work'), requestId: `work-${newId()}` }, work);
  }
}
