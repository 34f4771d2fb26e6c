import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Action } from '#entities/automation/document/definition-document.ts';
import { ApprovalTeam } from '../../kit/automation/approval-team.ts';
import { eventually } from '../../kit/eventually.ts';
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

/** Times in seconds: the timers of the workflows are real ones, and the clock of the world is advanced to what they wait for. */
const seconds = (count: number) => world.clock.advance(count * 1_000);

/** The workflow has done nothing but wait: it was woken by its own timers. */
async function expectOwnTimers(instanceId: string): Promise<void> {
  const fired = (await team.history(instanceId)).filter(({ timerFiredEventAttributes: timer }) => timer);
  expect(fired.length).toBeGreaterThan(0);
  expect(await team.updates(instanceId)).toEqual([]);
}

test('people are reminded once, and after the deadline others are asked as well', async () => {
  const published = await team.publish({
    remind_after: '1s',
    due_in: '3s',
    escalate_to: [team.user(team.cy)],
    label: 'Is it done?',
  });
  await team.held();
  const { id } = await team.instance(published, 'waiting');
  expect(await team.asked(team.ann)).toMatchObject({ due_at: new Date(world.clock.now().getTime() + 3_000).toJSON() });
  seconds(1);
  for (const person of [team.ann, team.ben])
    await eventually(async () => (await team.topics(person)).includes('workflow_assignment.reminded'));
  expect(await team.isAsked(team.cy)).toBe(false);
  seconds(2);
  const added = await team.asked(team.cy);
  await expectOwnTimers(id);
  expect(await team.journal(id)).toEqual([
    'workflow_triggered',
    'round_started',
    'assignment_created',
    'assignment_created',
    'reminded',
    'reminded',
    'assignment_created',
    'escalated',
  ]);
  // One of the two is enough together with the person who was added.
  await team.approve(team.ann);
  expect((await team.decide(team.cy, added['id'], 'approve')).status).toBe(200);
  await team.instance(published, 'completed');
  expect((await team.task())['status']).toBe('completed');
  expect(await team.assignmentsOf(id, team.ben)).toMatchObject([{ status: 'cancelled', isVoid: false }]);
});

test('whoever decides instead of a person who was added does not raise the number, and the action is approved then', async () => {
  const tell = {
    key: 'tell',
    type: 'NOTIFY',
    when: 'assignments.by_action["agree"].status == "APPROVED" && instance.state == "RUNNING"',
    params: { targets: [team.user(team.sam)], title: 'Agreed' },
  } as const;
  const params = { required_count: 0, due_in: '2s', escalate_to: [team.user(team.cy)] };
  const published = await team.publish(params, {}, [tell]);
  await team.held();
  await team.asked(team.ann);
  seconds(2);
  const added = await team.asked(team.cy);
  const handed = await team.decide(team.cy, added['id'], 'reassign', { user_id: team.owner.user.id });
  expect(handed.status, JSON.stringify(handed.body)).toBe(201);
  await team.approve(team.owner, team.ann);
  await team.instance(published, 'completed');
  await eventually(async () => (await team.topics(team.sam)).includes('workflow_instance.messaged'));
});

test('without people who are named, owners and admins are asked after the deadline', async () => {
  await team.publish({ due_in: '2s' });
  await team.held();
  await team.asked(team.ann);
  seconds(2);
  expect(await team.asked(team.owner)).toMatchObject({ action_key: 'agree' });
});

test('a change that nobody decides in time is rejected', async () => {
  const published = await team.publish({ due_in: '2s', on_due: 'REJECT', label: 'Is it done?' });
  await team.held();
  const { id } = await team.instance(published, 'waiting');
  seconds(2);
  expect(await team.instance(published, 'rejected')).toMatchObject({ reason: 'Nobody decided in time: Is it done?.' });
  await expectOwnTimers(id);
  expect(await team.proposal()).toMatchObject({ status: 'rejected', reason_code: 'overdue' });
  expect((await team.task())['status']).toBe('open');
  expect((await team.ground.assignments(id)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
});

test('a review that nobody answers in time lets the workflow continue, and nobody has approved it', async () => {
  const more: Action[] = [
    {
      key: 'mark',
      type: 'UPDATE_FIELD',
      when: 'assignments.by_action["look"].approved == 0',
      params: { updates: { priority: 42 } },
    },
  ];
  const look: Action = {
    key: 'look',
    type: 'REQUEST_REVIEW',
    params: { targets: [team.group], due_in: '2s', on_due: 'APPROVE' },
  };
  const published = await team.publish({}, { actions: [look, ...more] });
  expect((await team.change()).status).toBe(200);
  const { id } = await team.instance(published, 'waiting');
  await team.asked(team.ann);
  seconds(2);
  await team.instance(published, 'completed');
  await expectOwnTimers(id);
  expect((await team.ground.assignments(id)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
});
