import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApprovalTeam } from '../../kit/automation/approval-team.ts';
import { workflowActs } from '../../kit/automation/workflow-acts.ts';
import { eventually } from '../../kit/eventually.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let team: ApprovalTeam;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(() => world.close());

beforeEach(async () => {
  team = await ApprovalTeam.open(world);
});

/** The workflow has got these updates, in any order: events of an instance and of its assignments are delivered side by side. */
const expectUpdates = (instanceId: string, names: readonly string[]) =>
  eventually(async () => expect((await team.updates(instanceId)).toSorted()).toEqual(names.toSorted()) ?? true);

/** The workflow has ended, and with it what it asked. */
async function expectEnd(instanceId: string): Promise<void> {
  await team.run(instanceId).result();
  const statuses = (await team.ground.assignments(instanceId)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set(['cancelled']));
}

describe.each(workflowActs)('by %s', (_interface, { onAssignment, onInstance, onInstances }) => {
  test('a delegate decides in the place of the person who is asked', async () => {
    const published = await team.publish();
    await team.held();
    const { id, instance_id: instanceId } = await team.asked(team.ann);
    const delegated = await onAssignment(team.ann.client, id, 'delegate', { userId: team.cy.user.id });
    expect(await team.asked(team.cy)).toMatchObject({ id: delegated, instance_id: instanceId });
    await expectUpdates(instanceId, ['delegate']);
    await team.approve(team.cy, team.ben);
    await team.instance(published, 'completed');
    expect((await team.task())['status']).toBe('completed');
    await expectUpdates(instanceId, ['delegate', 'decide', 'decide']);
    expect(await team.assignmentsOf(instanceId, team.ann)).toMatchObject([{ status: 'cancelled', isVoid: false }]);
  });

  test('an owner hands an assignment over', async () => {
    const published = await team.publish();
    await team.held();
    const { id, instance_id: instanceId } = await team.asked(team.ann);
    await onAssignment(team.owner.client, id, 'reassign', { userId: team.cy.user.id });
    await team.asked(team.cy);
    await expectUpdates(instanceId, ['reassign']);
    expect(await onAssignment(team.ann.client, id, 'approve')).toBe('already_decided');
    await team.approve(team.cy, team.ben);
    await team.instance(published, 'completed');
  });

  test('an admin cancels a workflow while it waits', async () => {
    const published = await team.publish();
    await team.held();
    const { instance_id: id } = await team.asked(team.ann);
    expect(await onInstance(team.owner.client, id, 'cancel', { reason: 'A mistake.' })).toBe('ended');
    await expectEnd(id);
    await expectUpdates(id, ['cancel']);
    expect(await team.instance(published, 'cancelled')).toMatchObject({ reason: 'A mistake.' });
    expect(await team.proposal()).toMatchObject({ status: 'rejected', reason_code: 'cancelled' });
    expect((await team.task())['status']).toBe('open');
    expect(await team.journal(id)).toEqual([
      'workflow_triggered',
      'round_started',
      'assignment_created',
      'assignment_created',
      'assignment_cancelled',
      'assignment_cancelled',
      'proposal_rejected',
      'workflow_completed',
    ]);
    // The next change is held again.
    await team.held();
  });

  test('an admin completes a workflow, and has the change written without approvals', async () => {
    const published = await team.publish();
    await team.held();
    const { instance_id: id } = await team.asked(team.ann);
    const forced = { reason: 'Urgent.', isApplied: true };
    expect(await onInstance(team.owner.client, id, 'forceComplete', forced)).toBe('ended');
    await expectEnd(id);
    await expectUpdates(id, ['forceComplete']);
    await team.instance(published, 'completed');
    expect((await team.task())['status']).toBe('completed');
    expect(await team.writer()).toBe(`user:${team.sam.user.id}`);
    expect(await team.proposal()).toMatchObject({ status: 'applied' });
  });

  test.each(['cancel', 'forceComplete'] as const)('several workflows end by one request: %s', async (verb) => {
    const published = await team.publish();
    await team.held();
    const { instance_id: first } = await team.asked(team.ann);
    await onInstance(team.owner.client, first, 'cancel', { reason: 'The first.' });
    await team.held();
    const { instance_id: second } = await team.asked(team.ann);
    const input = { reason: 'A clean start.' };
    expect(await onInstances(team.owner.client, [second, first, team.taskId], verb, input)).toEqual([
      'ended',
      'rule_violated',
      'not_found',
    ]);
    await expectEnd(second);
    await expectUpdates(second, [verb]);
    await team.instance(published, verb === 'cancel' ? 'cancelled' : 'completed');
    expect(await team.proposal()).toMatchObject({ status: 'rejected' });
    expect((await team.task())['status']).toBe('open');
  });

  test('members end no workflows, and strangers find none', async () => {
    await team.publish();
    await team.held();
    const { id, instance_id: instanceId } = await team.asked(team.ann);
    const reason = { reason: 'Mine.' };
    for (const verb of ['cancel', 'forceComplete'] as const) {
      expect(await onInstance(team.ann.client, instanceId, verb, reason)).toBe('permission_denied');
      expect(await onInstances(team.cy.client, [instanceId], verb, reason)).toEqual(['not_found']);
    }
    for (const verb of ['approve', 'reject', 'requestChanges'] as const)
      expect(await onAssignment(team.cy.client, id, verb, { note: 'No.' })).toBe('not_found');
    expect(await team.updates(instanceId)).toEqual([]);
  });
});

test('every action of workflows is called once by GraphQL', async () => {
  const { ann, ben, cy, sam, owner } = team;
  const [, { onAssignment, onInstance, onInstances }] = workflowActs[1] as (typeof workflowActs)[number];
  const fail = ({ errors, data }: Pick<Awaited<ReturnType<TestClient['graphql']>>, 'errors' | 'data'>) => {
    expect(errors).toBeUndefined();
    return data;
  };
  const onProposal = async (id: string, text: string, given: object = {}, types = '') =>
    fail(await sam.client.graphql(`mutation ($id: ID!${types}) { ${text} }`, { id, ...given }));
  const published = await team.publish({}, { approvalSubmissionMode: 'MANUAL_SUBMIT' });

  const held = fail(
    await sam.client.graphql(
      `mutation ($id: ID!) { updateTask(id: $id, input: { status: COMPLETED }) { held { field } proposals { id status } } }`,
      { id: team.taskId },
    ),
  ).updateTask;
  expect(held).toMatchObject({ held: [{ field: 'status' }], proposals: [{ status: 'DRAFT' }] });
  const proposalId = held.proposals[0].id as string;

  const edited = await onProposal(
    proposalId,
    'editWorkflowProposal(recordKind: "task", id: $id, changes: $changes) { revision hash }',
    { changes: { status: 'in_review' } },
    ', $changes: JSON!',
  );
  expect(edited.editWorkflowProposal.revision).toBe(2);
  const submitted = await onProposal(
    proposalId,
    'submitWorkflowProposal(recordKind: "task", id: $id) { instanceId revision hash }',
  );
  const { instanceId, hash } = submitted.submitWorkflowProposal;
  expect(hash).toBe(edited.editWorkflowProposal.hash);
  await team.asked(ann);

  const mine = fail(
    await ann.client.graphql(
      '{ myWorkflowAssignments { id actionKey role round instanceId recordKind subjectId proposalId dueAt createdAt } }',
    ),
  ).myWorkflowAssignments;
  expect(mine).toMatchObject([
    { actionKey: 'agree', role: 'approver', instanceId, subjectId: team.taskId, proposalId },
  ]);
  const preview = fail(
    await ann.client.graphql(
      `query ($id: ID!) { previewWorkflowProposal(recordKind: "task", id: $id) {
        status trigger revision recordId instanceId fields { field current base proposed isOutdated } } }`,
      { id: proposalId },
    ),
  ).previewWorkflowProposal;
  expect(preview).toMatchObject({
    status: 'submitted',
    instanceId,
    fields: [{ field: 'status', current: 'open', base: 'open', proposed: 'in_review', isOutdated: false }],
  });

  const [first, second] = [mine[0].id as string, (await team.asked(ben))['id'] as string];
  expect(await onAssignment(ann.client, first, 'requestChanges', { note: 'Complete it.' })).toBe(first);
  await onProposal(
    proposalId,
    'editWorkflowProposal(recordKind: "task", id: $id, changes: $changes) { revision }',
    { changes: { status: 'completed' } },
    ', $changes: JSON!',
  );
  expect(await onAssignment(ben.client, second, 'approve')).toBe('stale_record');
  await expectUpdates(instanceId, ['decide', 'edit']);
  const [again, bens] = [await team.asked(ann, [first]), await team.asked(ben, [second])];
  await onAssignment(ann.client, again['id'], 'delegate', { userId: cy.user.id });
  const delegated = (await team.asked(cy))['id'] as string;
  expect(await onAssignment(cy.client, delegated, 'approve', { note: 'For Ann.' })).toBe(delegated);
  expect(await onAssignment(owner.client, bens['id'], 'reassign', { userId: owner.user.id })).toMatch(/^\w{26}$/);
  const owners = (await team.asked(owner))['id'] as string;
  await expectUpdates(instanceId, ['decide', 'edit', 'delegate', 'decide', 'reassign']);
  expect(await onAssignment(owner.client, owners, 'reject', { note: 'Not now.' })).toBe(owners);
  expect(await team.instance(published, 'rejected')).toMatchObject({ reason: 'Not now.' });
  await team.run(instanceId).result();
  await expectUpdates(instanceId, ['decide', 'edit', 'delegate', 'decide', 'reassign', 'decide']);

  const withdrawn = await onProposal(
    (await team.held())['id'],
    'withdrawWorkflowProposal(recordKind: "task", id: $id, reason: "Too early.") { status }',
  );
  expect(withdrawn.withdrawWorkflowProposal.status).toBe('withdrawn');

  const next = async () => {
    const { id } = await team.held();
    const answer = await onProposal(id, 'submitWorkflowProposal(recordKind: "task", id: $id) { instanceId }');
    return answer.submitWorkflowProposal.instanceId as string;
  };
  const reason = { reason: 'An end.' };
  expect(await onInstance(owner.client, await next(), 'cancel', reason)).toBe('ended');
  expect(await onInstances(owner.client, [await next()], 'cancel', reason)).toEqual(['ended']);
  expect(await onInstances(owner.client, [await next()], 'forceComplete', reason)).toEqual(['ended']);
  expect((await team.task())['status']).toBe('open');
  expect(await onInstance(owner.client, await next(), 'forceComplete', { ...reason, isApplied: true })).toBe('ended');
  expect((await team.task())['status']).toBe('completed');
});
