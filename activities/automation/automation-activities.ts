import { defineActivities } from '../kit/activity-dependencies.ts';
import type { AutomationDependencies, InstanceReference } from './instance-work.ts';
import { skipAction } from './skip-action.ts';
import { stepInstance } from './step-instance.ts';

export type AutomationActivities = ReturnType<typeof createAutomationActivities>;

/** Steps of instances of workflow definitions. */
export const createAutomationActivities = defineActivities((dependencies: AutomationDependencies) => ({
  /** Runs the next action, or finds out for what the instance waits. */
  stepInstance: (instance: InstanceReference) => stepInstance(dependencies, instance),

  /** Gives up the action that fails, as an operator has commanded. */
  skipAction: (instance: InstanceReference) => skipAction(dependencies, instance),
}));
