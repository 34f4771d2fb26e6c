import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import type { RemovalProgress, StepOrder } from '#workflows/organizations/remove-organization.contract.ts';
import type { RemovalStep } from './define-removal-step.ts';
import { orderOf, releaseRemovalSteps } from './release-removal-steps.ts';
import { endStep, lockRemoval, removalRequest } from './removal-state.ts';

interface RemovalInput {
  readonly removalId: string;
}

/** The activities of the steps, by the names of the steps. Each returns its progress, or null when it has ended. */
export type StepActivities = Readonly<Record<string, (input: RemovalInput) => Promise<RemovalProgress | null>>>;

/** The other activities of a removal. */
export interface RemovalActivities {
  readonly beginRemoval: (input: RemovalInput) => Promise<StepOrder[]>;
  readonly skipRemovalStep: (input: RemovalInput & { readonly step: string }) => Promise<void>;
}

export const createRemovalActivities = defineActivities((deps: ActivityDependencies) => {
  const transact = <T>(removalId: string, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
    deps.database.transact(workContext(systemCaller('remove organization'), removalRequest(removalId)), work);

  const activityOf =
    (step: RemovalStep) =>
    async ({ removalId }: RemovalInput): Promise<RemovalProgress | null> => {
      const removal = await transact(removalId, (unit) => lockRemoval(unit, removalId));
      if (!removal) return null;
      const progress = await retried(async () => step.run?.(deps, removal));
      if (progress && !progress.isCompleted) return progress;
      await transact(removalId, async (unit) => {
        const locked = await lockRemoval(unit, removalId);
        if (!locked?.openSteps.includes(step.name)) return;
        const left = await endStep(unit, locked, { step: step.name });
        step.end?.(unit, left);
      });
      return progress ?? null;
    };

  const own: RemovalActivities = {
    /** @returns the steps; none when the removal is undone */
    beginRemoval: ({ removalId }) =>
      transact(removalId, async (unit) => {
        const removal = await lockRemoval(unit, removalId);
        if (!removal) return [];
        const isNew = removal.openSteps.length === 0 && removal.status === 'pending';
        const openSteps = releaseRemovalSteps.map(({ name }) => name);
        if (isNew) await unit.data.update(organizationRemoval, removalId, { openSteps });
        return orderOf(releaseRemovalSteps);
      }),

    skipRemovalStep: ({ removalId, step }) =>
      transact(removalId, async (unit) => {
        const removal = await lockRemoval(unit, removalId);
        if (removal) await endStep(unit, removal, { step, isSkipped: true });
      }),
  };
  return { ...Object.fromEntries(releaseRemovalSteps.map((step) => [step.name, activityOf(step)])), ...own };
});

/** Steps are tried again whatever happens: a refusal would end the others as well. An unexpected error is named in the log alone. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error;
    const name = error instanceof Error ? error.name : 'error';
    throw ApplicationFailure.create({
      message: isAppError(error) ? error.message : `unexpected ${name}; see the log of the worker`,
      type: isAppError(error) ? error.code : 'internal',
      nonRetryable: false,
      cause: error instanceof Error ? error : undefined,
    });
  }
}
