import { automatedKinds } from '#entities/automation/document/automated-kinds.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { registry } from '#entities/index.ts';
import { runWorkflowInstanceContract } from '#workflows/automation/run-workflow-instance.contract.ts';
import { defineListener, type Listener } from '../listener.ts';

/** Most definitions that run for one record at the same time. */
const maxOpen = 1_000;

const deletions = automatedKinds(registry).flatMap(({ topic, events }) =>
  events.includes('deleted') ? [{ topic: `${topic}.deleted` }] : [],
);

/** Wakes the workflows of instances whose record is deleted: they end. Deletions of records without open instances do not wait for it. */
export const wakeInstancesOfDeleted: Listener = {
  ...defineListener('wake-instances-of-deleted', deletions, async ({ event, unit, wake }) => {
    const { entityId, organizationId } = event;
    if (organizationId === null) return;
    const open = { subjectId: { eq: entityId }, endedAt: { isNull: true } };
    for (const { id: instanceId } of await unit.data.find(workflowInstance, { where: open, limit: maxOpen }))
      wake(runWorkflowInstanceContract, { instanceId, organizationId });
  }),
  isWanted: ({ hasWorkflows }) => hasWorkflows,
  onDemand: true,
};
