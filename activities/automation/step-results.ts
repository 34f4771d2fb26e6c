import type { InstanceStep } from '#workflows/automation/run-workflow-instance.contract.ts';

/** The next step follows at once. */
export const next: InstanceStep = { isDone: false, waitMs: 0 };

/** The instance has ended. */
export const done: InstanceStep = { isDone: true, waitMs: null };
