import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { runWorkflowInstanceContract } from '#workflows/automation/run-workflow-instance.contract.ts';
import { wakeOf } from '../../kit/wake-of.ts';
import { defineSweep } from '../define-sweep.ts';

const firstId = firstIdAt(new Date(0));

/** Time after which an instance that runs or whose deadline has passed seems to have no workflow, in milliseconds. */
const lateMs = 120_000;

/** Instances whose workflow was terminated, or was lost with the workflows of the installation. A wake too many has no effect. */
export const sweepInstancesSweep = defineSweep({
  name: 'sweepInstances',
  description: 'Wakes instances of workflow definitions that are to do something and have not done it.',
  queue: 'automation',
  every: 300_000,
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
    if (due === null) return { action: null, reason: 'it waits for people' };
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
