import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { ApprovalTeam } from '../../kit/automation/approval-team.ts';
import { eventually } from '../../kit/eventually.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let team: ApprovalTeam;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' },
  });
});
afterAll(() => world.close());

beforeEach(async () => {
  team = await ApprovalTeam.open(world);
});

test('an operator cannot skip the approval of a change that is held', async () => {
  const published = await team.publish({ required_count: 1 });
  await team.held();
  const { instance_id: id } = await team.asked(team.ann);
  await team.instance(published, 'waiting');
  await asOwner(world, `update workflow_instances set status = 'failing' where id = $1`, [id]);
  await team.run(id).signal('skipAction');
  await eventually(async () =>
    (await team.history(id)).some(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'skipAction',
    ),
  );
  await team.approve(team.ann);
  await team.instance(published, 'completed');
  expect(await team.journal(id)).not.toContain('action_skipped');
  expect(await team.writer()).toContain(team.sam.user.id);
});

test('whoever is asked for a review stays asked, although its condition was about the time before', async () => {
  const targets = [team.group];
  const when = 'instance.state == "RUNNING" && object.priority < 50';
  const look = { key: 'look', type: 'REQUEST_REVIEW', when, params: { targets, required_count: 1 } } as const;
  const published = await team.publish({}, { actions: [look] });
  expect((await team.change()).status).toBe(200);
  const { id: assignment } = await team.asked(team.ann);
  expect((await team.change({ priority: 80 })).status).toBe(200);
  const delegated = await team.decide(team.ann, assignment, 'delegate', { user_id: team.cy.user.id });
  expect(delegated.status, JSON.stringify(delegated.body)).toBe(201);
  await team.approve(team.cy);
  const { id } = await team.instance(published, 'completed');
  expect(await team.journal(id)).not.toContain('action_skipped');
});
