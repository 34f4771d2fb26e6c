import { instanceOfActor } from '#entities/automation/matching/instance-actor.ts';
import { instanceSummary } from '#entities/automation/matching/instance-summary.ts';
import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { registry } from '#entities/index.ts';
import { on, type PayloadOf } from '#entities/kit/model/events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import {
  runWorkflowInstanceContract,
  type InstanceUpdate,
} from '#workflows/automation/run-workflow-instance.contract.ts';
import { defineListener, type Listener } from '../listener.ts';

const created = on(workflowInstance, 'created');
const ended = on(workflowInstance, 'ended');
const decided = on(workflowAssignment, 'decided');

/** Updates by the topics of the events that they report. */
const updates: Readonly<Record<string, InstanceUpdate>> = {
  [decided.topic]: 'decide',
  [on(workflowInstance, 'round_started').topic]: 'edit',
  [on(workflowInstance, 'delegated').topic]: 'delegate',
  [on(workflowInstance, 'reassigned').topic]: 'reassign',
};

/** Wakes the workflow of an instance when it is new, and when somebody has decided or changed what it asks for. */
export const wakeInstances: Listener = {
  ...defineListener(
    'wake-instances',
    [created, ended, ...Object.keys(updates).map((topic) => ({ topic }))],
    async ({ event, unit, wake }) => {
      const { topic, entityId, organizationId, requestId } = event;
      if (organizationId === null) return;
      if (topic === created.topic) {
        const instance = await unit.data.findOne(workflowInstance, { id: { eq: entityId } });
        // One that an event has started was woken together with it.
        if (!instance || instance.endedAt !== null || instance.proposalId === null) return;
        const { definitionId, status } = instance;
        const summary = await instanceSummary(unit.data, registry.byKind(instance.recordKind), instance);
        const search = { WorkflowDefinitionId: definitionId, WorkflowState: status };
        const input = { instanceId: entityId, organizationId, requestId, summary };
        wake(runWorkflowInstanceContract, input, { search });
        return;
      }
      // Its workflow has ended it.
      if (topic === ended.topic && instanceOfActor(event.actor) === entityId) return;
      const update = topic === ended.topic ? endingUpdate(event.payload) : updates[topic];
      const instanceId = topic === decided.topic ? await instanceAsking(unit, entityId) : entityId;
      if (instanceId !== undefined)
        wake(runWorkflowInstanceContract, { instanceId, organizationId }, update === undefined ? {} : { update });
    },
  ),
  isWanted: ({ hasWorkflows }) => hasWorkflows,
};

/** How the workflow learns that its instance has ended. */
function endingUpdate(payload: unknown): InstanceUpdate {
  const { status } = payload as PayloadOf<typeof workflowInstance, 'ended'>;
  return status === 'completed' ? 'forceComplete' : 'cancel';
}

async function instanceAsking({ data }: UnitOfWork, assignmentId: string): Promise<string | undefined> {
  return (await data.findOne(workflowAssignment, { id: { eq: assignmentId } }))?.instanceId;
}
