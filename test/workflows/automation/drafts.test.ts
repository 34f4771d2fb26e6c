import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ApprovalTeam } from '../../kit/automation/approval-team.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
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

const drafts = () => team.publish({}, { approvalSubmissionMode: 'MANUAL_SUBMIT' });

const act = (proposal: { readonly id?: string }, verb: string, body: object = {}, by = team.sam) =>
  by.client.post(`/v1/workflow-proposals/task/${proposal.id}/${verb}`, body);

test('a draft is edited and submitted, and written when it is approved', async () => {
  const published = await drafts();
  const draft = await team.held();
  expect(draft).toMatchObject({ status: 'draft', revision: 1, instance_id: null, submitted_at: null });
  expectProblem(await act(draft, 'submit', {}, team.ann), 'permission_denied');
  const edited = await act(draft, 'edit', { changes: { status: 'in_review' } });
  expect([edited.status, edited.body.revision]).toEqual([200, 2]);
  for (const person of [team.ann, team.ben]) expect(await team.isAsked(person)).toBe(false);
  const submitted = await act(draft, 'submit');
  expect(submitted.body, JSON.stringify(submitted.body)).toMatchObject({ revision: 2, hash: edited.body.hash });
  expectProblem(await act(draft, 'submit'), 'rule_violated');
  expect(await team.asked(team.ann)).toMatchObject({
    instance_id: submitted.body.instance_id,
    subject_id: team.taskId,
  });
  await team.approve(team.ann, team.ben);
  await team.instance(published, 'completed');
  expect(await team.task()).toMatchObject({ status: 'in_review' });
  expect(await team.writer()).toBe(`user:${team.sam.user.id}`);
  expect(await team.proposal()).toMatchObject({ status: 'applied', changes: { status: 'in_review' } });
});

test('a second change of the submitter changes the draft', async () => {
  await drafts();
  const { id } = await team.held();
  expect(await team.held({ status: 'wont_do' })).toMatchObject({ id, status: 'draft', revision: 2 });
  expectProblem(await team.change({ status: 'in_review' }, team.owner.client), 'proposal_open');
});

test('a draft is based on the record as it is when it is submitted', async () => {
  const published = await drafts();
  const draft = await team.held();
  await team.ground.asServer(({ data, unit }) =>
    data.update(unit.registry.byKind('task'), team.taskId, { status: 'in_progress' }),
  );
  const preview = () => team.ann.client.get(`/v1/workflow-proposals/task/${draft['id']}/preview`);
  expect((await preview()).body.fields).toMatchObject([{ base: 'open', current: 'in_progress', is_outdated: true }]);
  expect((await act(draft, 'submit')).status).toBe(200);
  expect((await preview()).body.fields).toMatchObject([{ base: 'in_progress', is_outdated: false }]);
  await team.approve(team.ann, team.ben);
  await team.instance(published, 'completed');
  expect(await team.task()).toMatchObject({ status: 'completed' });
});

test('a withdrawn draft leaves room for another, and asks nobody', async () => {
  await drafts();
  const draft = await team.held();
  expect((await act(draft, 'withdraw', { reason: 'Too early.' })).body).toMatchObject({ status: 'withdrawn' });
  expect(await team.proposal()).toMatchObject({ status: 'withdrawn', reason: 'Too early.' });
  expectProblem(await act(draft, 'submit'), 'rule_violated');
  const next = await team.held({ status: 'wont_do' });
  expect(next).toMatchObject({ status: 'draft', revision: 1 });
  expect(next['id']).not.toBe(draft['id']);
  expect(await team.isAsked(team.ann)).toBe(false);
});

test('a person who may not edit the record any more does not submit', async () => {
  await drafts();
  const draft = await team.held();
  await team.giveRole(team.sam, 'auditor');
  expectProblem(await act(draft, 'submit'), 'permission_denied');
  expect(await team.proposal()).toMatchObject({ status: 'draft', instance_id: null });
});

test('a proposal that is submitted again takes the newest version, and decisions about the former values are stale', async () => {
  const published = await team.publish();
  const proposal = await team.held();
  const { id } = await team.instance(published, 'waiting');
  const old = [await team.asked(team.ann), await team.asked(team.ben)];
  await team.approve(team.ann);
  await eventually(async () => (await team.updates(id)).length === 1);
  world.clock.advance(1_000);
  await team.republish(published, { targets: [team.user(team.cy)], required_count: 1 });
  expect(await team.isAsked(team.cy)).toBe(false);
  expect((await act(proposal, 'edit', { changes: { status: 'wont_do' } })).body).toMatchObject({ revision: 2 });
  expectProblem(await team.decide(team.ben, old[1]?.['id'], 'approve'), 'stale_record');
  expect(await team.asked(team.cy)).toMatchObject({ instance_id: id, round: 2 });
  await eventually(async () => (await team.updates(id)).length === 2);
  await team.approve(team.cy);
  await team.instance(published, 'completed');
  expect(await team.updates(id)).toEqual(['decide', 'edit', 'decide']);
  expect((await team.task())['status']).toBe('wont_do');
  const { body } = await team.owner.client.get(`/v1/workflow-instances/${id}`);
  const version = await team.owner.client.get(`/v1/workflow-versions/${body.version_id}`);
  expect(version.body.number).toBe(2);
});
