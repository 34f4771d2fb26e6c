import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { RemovalActivities, StepActivities } from '#activities/removals/removal-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import {
  skipStepSignal,
  type RemovalProgress,
  type RemoveOrganizationInput,
  type StepOrder,
} from './remove-organization.contract.ts';

/** Repetitions of steps in one run: each is an activity, and a history stays short. */
const slicesOfRun = 200;

/** The steps of histories of before, by the marker that they may have. */
const formerSteps: readonly StepOrder[] = [
  { name: 'cancelSubscriptions', after: [] },
  { name: 'removeContents', after: ['cancelSubscriptions'] },
];

/**
 * Removes what belonged to a deleted organization, in steps that run at the same time. A step that fails is tried again until it succeeds or an
 * operator skips it; the others continue, except those that come after it.
 */
export async function removeOrganization(input: RemoveOrganizationInput): Promise<RemovalProgress> {
  const activities = proxyActivities<RemovalActivities & StepActivities>({
    ...activityOptions(input.queue),
    // They continue until all is removed: what is deleted must not stay.
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  const { removalId } = input;
  const scopes = new Map<string, CancellationScope>();
  const ended = new Set(input.continued?.ended);
  const skipped = new Set<string>();
  let progress: RemovalProgress = { totalRecords: 0, removedRecords: 0, isCompleted: false };
  let slices = 0;
  setHandler(defineQuery<RemovalProgress>('progress'), () => progress);
  setHandler(defineSignal<[string]>(skipStepSignal), (step) => {
    skipped.add(step);
    scopes.get(step)?.cancel();
  });

  const run = async (step: string): Promise<void> => {
    const repeat = activities[step] as StepActivities[string];
    for (;;) {
      const result = await repeat({ removalId });
      progress = result ?? progress;
      // Steps of histories of before had no result.
      if (result?.isCompleted !== false) return;
      // The next run continues; this one is about to end.
      if (++slices >= slicesOfRun) await condition(() => false);
    }
  };
  const runOrSkip = async ({ name, after }: StepOrder): Promise<void> => {
    if (ended.has(name)) return;
    await condition(() => after.every((other) => ended.has(other)));
    const scope = new CancellationScope();
    scopes.set(name, scope);
    try {
      if (!skipped.has(name)) await scope.run(() => run(name));
    } catch (error) {
      if (!isCancellation(error) || !skipped.has(name)) throw error;
    }
    if (skipped.has(name)) await activities.skipRemovalStep({ removalId, step: name });
    ended.add(name);
  };

  const steps = input.continued?.steps ?? (await begin(() => activities.beginRemoval({ removalId })));
  await Promise.race([Promise.all(steps.map(runOrSkip)), condition(() => slices >= slicesOfRun)]);
  if (ended.size >= steps.length) return progress;
  return continueAsNew<typeof removeOrganization>({ ...input, continued: { steps, ended: [...ended] } });
}

/** Histories of before did not ask which steps there are; the condition goes when none of them is left (docs/decisions/removal-of-organizations.md). */
async function begin(ask: () => Promise<readonly StepOrder[]>): Promise<readonly StepOrder[]> {
  if (patched('removal-steps')) return ask();
  return patched('cancel-subscriptions') ? formerSteps : formerSteps.slice(1).map((step) => ({ ...step, after: [] }));
}
