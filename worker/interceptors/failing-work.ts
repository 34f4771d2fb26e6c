import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import { searchValuesOf } from '#activities/clients/temporal/search-values.ts';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { isScheduled, placeOfWork } from '#activities/kit/work-kind.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { endFailures, noteFailures, shownAttempts, type WorkFailure } from '#entities/kit/outbox/failing-work.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { deliverEventContract } from '#workflows/events/deliver-event.contract.ts';

interface Parts {
  readonly database: Database;
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
}

/**
 * Keeps which activities fail for the fifth time or for good, until they succeed. An attempt of its own that fails, for example while the
 * database is unreachable, is logged and changes nothing: the next attempt is noted again. Deliveries of events have rows of their own.
 */
export function failingWorkInterceptor({ database, temporal, logger }: Parts) {
  return ({ info }: Context): ActivityInterceptors => {
    const { workflowExecution, workflowType = '', activityType, attempt, retryPolicy } = info;
    if (!workflowExecution || workflowType === deliverEventContract.name) return {};
    const place = placeOfWork({ ...workflowExecution, workflowType }, activityType);
    const context = { caller: systemCaller('failing work'), requestId: `work-${newId()}` };
    const noted = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        logger.warn(
          { err: error, activity: activityType, attempt, workflow_id: place.workflowId },
          'failing work could not be noted',
        );
      }
    };
    const note = (failure: Pick<WorkFailure, 'status' | 'attempts' | 'error' | 'nextAttemptAt'>) =>
      noted(async () => {
        const handle = temporal.client.workflow.getHandle(place.workflowId, place.runId);
        const run = await temporal.call('find a workflow', () => handle.describe());
        const at = database.options.clock.now();
        await database.transact(context, (unit) =>
          noteFailures(unit, [{ ...place, ...searchValuesOf(run), ...failure, at }]),
        );
      });
    return {
      inbound: {
        async execute(input, next) {
          // Whoever had the attempt before can have been lost without a word.
          if (attempt === shownAttempts + 1)
            await note({ status: 'failing', attempts: attempt - 1, error: lost, nextAttemptAt: null });
          try {
            const result = await next(input);
            if (attempt > shownAttempts || isScheduled(place.workflowId))
              await noted(() => database.transact(context, (unit) => endFailures(unit, [place.key])));
            return result;
          } catch (error) {
            if (!(error instanceof ApplicationFailure)) throw error;
            const isLast = attempt === retryPolicy?.maximumAttempts;
            const isBroken = error.nonRetryable === true && error.type === 'internal';
            // A refusal is an outcome; its workflow decides what follows.
            if (error.nonRetryable === true ? isBroken : isLast || attempt >= shownAttempts) {
              const isFailed = isBroken || isLast;
              await note({
                status: isFailed ? 'failed' : 'failing',
                attempts: attempt,
                error: `${error.type ?? 'error'}: ${error.message}`.slice(0, 500),
                nextAttemptAt: isFailed
                  ? null
                  : new Date(database.options.clock.now().getTime() + pauseMs(attempt, retryPolicy)),
              });
            }
            throw error;
          }
        },
      },
    };
  };
}

const lost = 'the attempts before reported no error: they took too long, or their worker was lost';

/** Pause after an attempt, as Temporal makes it. */
function pauseMs(attempt: number, policy: Context['info']['retryPolicy']): number {
  const initialMs = Number(policy?.initialInterval ?? 1_000);
  const maximumMs = Number(policy?.maximumInterval ?? initialMs * 100);
  return Math.min(maximumMs, initialMs * (policy?.backoffCoefficient ?? 2) ** (attempt - 1));
}
