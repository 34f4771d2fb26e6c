import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { FailedAttempt, FailingWorkNotes } from '#activities/kit/failing-work-notes.ts';
import { isScheduled, placeOfWork } from '#activities/kit/work-kind.ts';
import type { ErrorHandler } from './error-handler.ts';
import { deliverEventContract } from '#workflows/events/deliver-event.contract.ts';

/**
 * Records activities that fail for the fifth time or permanently, until they succeed. If recording fails, for example because the database
 * is unreachable, it is logged; the next attempt is recorded again. Deliveries of events have rows of their own.
 */
export function failingActivityInterceptor(notes: FailingWorkNotes, onFailed: ErrorHandler, logger: Logger) {
  return ({ info }: Context): ActivityInterceptors => {
    const { workflowExecution, workflowType = '', activityType, attempt, retryPolicy } = info;
    if (!workflowExecution || workflowType === deliverEventContract.name) return {};
    const place = placeOfWork({ ...workflowExecution, workflowType }, activityType);
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
    const note = (failed: FailedAttempt) => noted(() => notes.failed(place, failed));
    return {
      inbound: {
        async execute(input, next) {
          // The worker that had the attempt before can have been lost without a word.
          if (attempt === notes.shownAttempts + 1)
            await note({ status: 'failing', attempts: attempt - 1, error: lost, pauseMs: null, isGuess: true });
          try {
            const result = await next(input);
            if (attempt > notes.shownAttempts || isScheduled(place.workflowId))
              await noted(() => notes.succeeded(place));
            return result;
          } catch (error) {
            if (!(error instanceof ApplicationFailure)) throw error;
            const isLast = attempt === retryPolicy?.maximumAttempts;
            const isBroken = error.nonRetryable === true && error.type === 'internal';
            // A refusal is an outcome; its workflow decides what follows.
            if (error.nonRetryable === true ? isBroken : isLast || attempt >= notes.shownAttempts) {
              const isFailed = isBroken || isLast;
              const said = `${error.type ?? 'error'}: ${error.message}`.slice(0, 500);
              await note({
                status: isFailed ? 'failed' : 'failing',
                attempts: attempt,
                error: said,
                pauseMs: isFailed ? null : pauseMs(attempt, retryPolicy),
              });
              if (isFailed) await onFailed(place, said);
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
