import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { runWorkflowInstanceContract } from '#workflows/automation/run-workflow-instance.contract.ts';
import { wakeOf } from '../../kit/wake-of.ts';
import { defineSweep } from '../define-sweep.ts';

const firstId = firstIdAt(new Date(0));

/** Time after which an instance that runs or whose deadline has passed seems to have no workflow, in milliseconds. */
const lateMs = 120_000;

/** Between two sweeps. */
const everyMs = 300_000;

/**
 * Between two looks at an instance that waits for people alone, counted from its last change: rights, groups and records can change without an
 * event about it.
 */
const lookMs = 3_600_000;

/** Instances whose workflow was terminated, or was lost with the workflows of the installation. A wake too many has no effect. */
export const sweepInstancesSweep = defineSweep({
  name: 'sweepInstances',
  description: 'Wakes instances of workflow definitions that are to do something and have not done it.',
  queue: 'automation',
  every: everyMs,
  settings: ({ workflows }) => ({ isEnabled: workflows.enabled }),
  find: ({ data }, { limit, after: [after = firstId] = [], only }) =>
    data.find(workflowInstance, {
      where: { id: only === undefined ? { gt: after } : { eq: only }, endedAt: { isNull: true } },
      orderBy: [{ field: 'id', direction: 'asc' }],
      limit,
    }),
  lock: ({ data }, id) => data.findLocked(workflowInstance, id),
  decide: ({ status, waitingUntil, updatedAt, endedAt }, { now, config }) => {
    if (!config.workflows.enabled) return { action: null, reason: 'workflows are off' };
    if (endedAt !== null) return { action: null, reason: 'it has ended' };
    const due = status === 'waiting' ? waitingUntil : updatedAt;
    if (due === null) {
      const waitedMs = now.getTime() - updatedAt.getTime();
      return waitedMs >= lookMs && waitedMs % lookMs < everyMs
        ? { action: 'wake', reason: 'it has waited for people for hours' }
        : { action: null, reason: 'it waits for people' };
    }
    return now.getTime() - due.getTime() > lateMs
      ? { action: 'wake', reason: 'nothing has happened' }
      : { action: null, reason: 'it is not late' };
  },
  act: async (unit, { id: instanceId, organizationId }) => {
    const wake = wakeOf(
      runWorkflowInstanceContract,
      { instanceId, organizationId },
      { OrganizationId: [organizationId] },
    );
    await keepWakes(unit, [wake], { unlessKept: true });
  },
});
