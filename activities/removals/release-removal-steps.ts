import { soleExports, sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';
import type { StepOrder } from '#workflows/organizations/remove-organization.contract.ts';
import type { RemovalStep } from './define-removal-step.ts';

/** Every step of this release: that of each `activities/removals/<name>.step.ts`. */
export const releaseRemovalSteps = removalStepsOf(await sourceModules('activities/removals', '.step.ts'));

/** @throws TypeError when a file exports no step, or several, or when a step waits for one that does not exist or waits for it */
export function removalStepsOf(modules: readonly SourceModule[]): readonly RemovalStep[] {
  const steps = soleExports(modules, 'step', isStep).map(({ value }) => value);
  const order = orderOf(steps);
  const begun = new Set<string>();
  for (let left = order; left.length > 0;) {
    const next = left.filter(({ after }) => after.every((name) => begun.has(name)));
    if (next.length === 0) throw new TypeError(`the steps ${left.map(({ name }) => name).join(', ')} never begin`);
    for (const { name } of next) begun.add(name);
    left = left.filter(({ name }) => !begun.has(name));
  }
  return steps;
}

/** The steps as the workflow takes them. */
export function orderOf(steps: readonly RemovalStep[]): StepOrder[] {
  return steps.map(({ name, after }) => ({
    name,
    after: after === 'others' ? steps.flatMap((other) => (other.after === 'others' ? [] : other.name)) : after,
  }));
}

function isStep(value: unknown): value is RemovalStep {
  return typeof value === 'object' && value !== null && 'description' in value && 'after' in value;
}
