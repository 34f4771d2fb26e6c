import { instancesAsking, unattendedInstances, type PeopleKind } from '#entities/automation/asked-people-rows.ts';
import { group } from '#entities/groups/group.ts';
import { groupMembership } from '#entities/groups/group-membership.ts';
import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { membership } from '#entities/organizations/membership.ts';
import { runWorkflowInstanceContract } from '#workflows/automation/run-workflow-instance.contract.ts';
import { defineListener, type Listener } from '../listener.ts';

const changes = [on(membership, 'updated'), on(user, 'updated')];
const ends = [on(membership, 'deleted'), on(groupMembership, 'deleted'), on(group, 'deleted'), on(user, 'deleted')];
const joins = [on(membership, 'created'), on(groupMembership, 'created')];

/** Fields that say whether a person may decide. */
const deciding = new Set(['role', 'status']);

/**
 * Wakes the workflows that ask a person who leaves, gets another role, or is deactivated, or whose group is deleted: they close the assignment, and a decision that the
 * person has taken is void. Workflows for which nobody can decide are woken when somebody joins or gets another role.
 */
export const followLeavingApprovers: Listener = {
  ...defineListener('follow-leaving-approvers', [...changes, ...ends, ...joins], async ({ event, unit, wake }) => {
    const { topic, entityKind, entityId, organizationId, payload } = event;
    const isChange = changes.some((change) => change.topic === topic);
    if (isChange && !payload.changed.some((name) => deciding.has(name))) return;
    const isJoin = joins.some((join) => join.topic === topic);
    const asking = isJoin ? [] : await instancesAsking(unit, entityKind as PeopleKind, entityId);
    const unattended = organizationId === null ? [] : await unattendedInstances(unit, organizationId);
    for (const instance of [...asking, ...unattended]) wake(runWorkflowInstanceContract, instance);
  }),
  isWanted: ({ hasWorkflows }) => hasWorkflows,
};
