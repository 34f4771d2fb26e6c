import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RowOf } from '#entities/kit/model/define.ts';
import { apiToken, task, workflowInstance, type workflowVersion } from '#entities/index.ts';
import { asPerson } from '../../kit/as-person.ts';
import { ApprovalGround } from '../../kit/automation/approval-ground.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let ground: ApprovalGround;
let [ann, ben, sam] = [] as unknown as [Person, Person, Person];
let [annClient, benClient, samClient, ownerClient] = [] as unknown as TestClient[];
let held: RowOf<typeof task>;
let security: string;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(() => world.close());

beforeEach(async () => {
  const owner = await buildPerson(world);
  ground = new ApprovalGround(world, owner);
  const member = () => buildPerson(world, { organization: owner.organization, role: 'member' });
  [ann, ben, sam] = [await member(), await member(), await member()];
  [annClient, benClient, samClient, ownerClient] = await Promise.all(
    [ann, ben, sam, owner].map((person) => signedIn(world, person)),
  );
  held = await ground.task({ assigneeId: sam.user.id });
  security = await ground.group(ann, ben);
  await ground.show(held.id, security);
});

const twoOf = () =>
  ground.publish([
    {
      key: 'two',
      type: 'REQUEST_APPROVAL',
      params: {
        targets: [{ type: 'GROUP', id: security }],
        fields: ['status'],
        required_count: 2,
        label: 'Is it done?',
      },
    },
  ]);

/** A completion that waits for two of these people. */
async function heldChange() {
  const version: RowOf<typeof workflowVersion> = await twoOf();
  const instanceId = await ground.hold(version, sam, held, { status: 'completed' });
  await ground.step(instanceId);
  return instanceId;
}

const decide = (client: TestClient | undefined, id: string, verb: string, body: object = {}) =>
  (client as TestClient).post(`/v1/workflow-assignments/${id}/${verb}`, body);

test('two approve, and the change is written as the person who made it', async () => {
  const instanceId = await heldChange();
  expect((await annClient?.get('/v1/workflow-assignments/mine'))?.body.data).toMatchObject([
    { label: 'Is it done?', record_kind: 'task', subject_id: held.id },
  ]);
  const first = await decide(annClient, await ground.openAssignment(instanceId, ann), 'approve');
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  await ground.step(instanceId);
  expect(await ground.statusOf(held.id)).toBe('open');
  await decide(benClient, await ground.openAssignment(instanceId, ben), 'approve', { note: 'Seen.' });
  await ground.step(instanceId);
  expect(await ground.statusOf(held.id)).toBe('completed');
  expect(await ground.instance(instanceId)).toMatchObject({ status: 'completed' });
  const written = await ground.asServer(({ data }) => data.get(task, held.id));
  expect(written.updatedBy).toBe(`user:${sam.user.id}`);
});

test('a stranger, the submitter and an owner who is not asked cannot decide', async () => {
  const instanceId = await heldChange();
  const id = await ground.openAssignment(instanceId, ann);
  for (const client of [benClient, samClient, ownerClient, await signedIn(world, await buildPerson(world))]) {
    const answer = await decide(client, id, 'approve');
    expectProblem(answer, 'not_found');
    expect(answer.body.detail).toContain('the person who is asked answers it');
  }
  expectProblem(await decide(world.client(), id, 'approve'), 'unauthenticated');
});

test('one of fifty decisions at once is taken, and the others learn that it was', async () => {
  const instanceId = await heldChange();
  const id = await ground.openAssignment(instanceId, ann);
  const verbs = Array.from({ length: 50 }, (_none, n) => (n % 2 === 0 ? 'approve' : 'reject'));
  const answers = await Promise.all(verbs.map((verb) => decide(annClient, id, verb, { note: 'Race' })));
  const taken = answers.filter(({ status }) => status === 200);
  expect(taken).toHaveLength(1);
  for (const answer of answers) if (answer.status !== 200) expect(answer.body.code).toBe('already_decided');
});

test('decisions, other values, an end, a deletion and another person at once leave nothing half done', async () => {
  for (const applies of [false, true]) {
    held = await ground.task({ assigneeId: sam.user.id });
    await ground.show(held.id, security);
    const instanceId = await heldChange();
    const [own, other] = [await ground.openAssignment(instanceId, ann), await ground.openAssignment(instanceId, ben)];
    const { proposalId } = await ground.instance(instanceId);
    const url = `/v1/tasks/${held.id}`;
    const edit = `/v1/workflow-proposals/task/${proposalId}/edit`;
    const end = `/v1/workflow-instances/${instanceId}/${applies ? 'force-complete' : 'cancel'}`;
    const ways = [
      () => decide(annClient, own, 'approve'),
      () => decide(benClient, other, 'approve'),
      () => samClient!.post(edit, { changes: { status: 'wont_do' } }),
      () => ownerClient!.post(end, { reason: 'Race', ...(applies && { is_applied: true }) }),
      () => ownerClient!.mutate({ method: 'DELETE', url }),
      () => ground.step(instanceId),
      () => decide(annClient, own, 'reassign', { user_id: ground.owner.user.id }),
    ];
    const answers = await Promise.all(Array.from({ length: 50 }, async (_none, n) => ways[n % ways.length]?.()));
    expect(answers.filter((answer) => (answer?.status ?? 0) >= 500).map((answer) => answer?.body)).toEqual([]);
    await ground.step(instanceId);
    expect((await ground.instance(instanceId)).endedAt).not.toBeNull();
    expect((await ground.assignments(instanceId)).filter(({ status }) => status === 'pending')).toEqual([]);
  }
});

test('a rejection ends it with its reason, and what others are asked is cancelled, never approved', async () => {
  const instanceId = await heldChange();
  await decide(annClient, await ground.openAssignment(instanceId, ann), 'reject', { note: 'Not done.' });
  await ground.step(instanceId);
  expect(await ground.instance(instanceId)).toMatchObject({ status: 'rejected', reason: 'Not done.' });
  expect((await ground.assignments(instanceId)).map(({ status }) => status).toSorted()).toEqual([
    'cancelled',
    'rejected',
  ]);
  expect(await ground.statusOf(held.id)).toBe('open');
});

test('when changes are requested, the submitter proposes others, and everybody is asked again', async () => {
  const instanceId = await heldChange();
  const old = await ground.openAssignment(instanceId, ben);
  await decide(annClient, await ground.openAssignment(instanceId, ann), 'request-changes', {
    note: 'In review first.',
  });
  await ground.step(instanceId);
  const { proposalId } = await ground.instance(instanceId);
  const address = `/v1/workflow-proposals/task/${proposalId}`;
  expectProblem(
    (await annClient?.post(`${address}/edit`, { changes: { status: 'wont_do' } })) as never,
    'permission_denied',
  );
  expectProblem((await samClient?.post(`${address}/edit`, { changes: { title: 'x' } })) as never, 'invalid_input');
  const edited = await samClient?.post(`${address}/edit`, { changes: { status: 'in_review' } });
  expect(edited?.status, JSON.stringify(edited?.body)).toBe(200);
  expectProblem(await decide(benClient, old, 'approve'), 'stale_record');
  await ground.step(instanceId);
  expectProblem(await decide(benClient, old, 'approve'), 'stale_record');
  const preview = await benClient?.get(`${address}/preview`);
  expect(preview?.body).toMatchObject({
    revision: 2,
    fields: [{ field: 'status', current: 'open', proposed: 'in_review', is_outdated: false }],
  });
  for (const [client, person] of [
    [annClient, ann],
    [benClient, ben],
  ] as const)
    await decide(client, await ground.openAssignment(instanceId, person), 'approve');
  await ground.step(instanceId);
  expect(await ground.statusOf(held.id)).toBe('in_review');
});

test('a change whose record has changed meanwhile is not written', async () => {
  const instanceId = await heldChange();
  await ground.asServer(({ data }) => data.update(task, held.id, { status: 'in_progress' }));
  for (const [client, person] of [
    [annClient, ann],
    [benClient, ben],
  ] as const)
    await decide(client, await ground.openAssignment(instanceId, person), 'approve');
  await ground.step(instanceId);
  expect(await ground.instance(instanceId)).toMatchObject({ status: 'rejected' });
  expect(await ground.statusOf(held.id)).toBe('in_progress');
});

test('decisions of people who have lost the right are void, also when the change is written', async () => {
  const instanceId = await heldChange();
  for (const [client, person] of [
    [annClient, ann],
    [benClient, ben],
  ] as const)
    await decide(client, await ground.openAssignment(instanceId, person), 'approve');
  await ground.leaveGroup(security, ann);
  await ground.step(instanceId);
  expect(await ground.statusOf(held.id)).toBe('open');
  const [first, second] = await ground.assignments(instanceId);
  expect([first, second].find((one) => one?.userId === ann.user.id)).toMatchObject({
    status: 'cancelled',
    isVoid: true,
  });
  expect(await ground.instance(instanceId)).toMatchObject({ status: 'rejected' });
});

test('a submitter who may not edit any more writes nothing', async () => {
  const instanceId = await heldChange();
  for (const [client, person] of [
    [annClient, ann],
    [benClient, ben],
  ] as const)
    await decide(client, await ground.openAssignment(instanceId, person), 'approve');
  await ground.asServer(({ data }) => data.update(task, held.id, { assigneeId: null }));
  await ground.step(instanceId);
  expect(await ground.instance(instanceId)).toMatchObject({ status: 'rejected' });
  expect(await ground.statusOf(held.id)).toBe('open');
});

test('a delegate and the person in whose place they decide are one approval', async () => {
  const cy = await buildPerson(world, { organization: ground.owner.organization, role: 'member' });
  await ground.show(held.id, await ground.group(cy));
  const instanceId = await heldChange();
  const id = await ground.openAssignment(instanceId, ann);
  expectProblem(await decide(annClient, id, 'delegate', { user_id: sam.user.id }), 'rule_violated');
  expectProblem(await decide(benClient, id, 'delegate', { user_id: cy.user.id }), 'not_found');
  const delegated = await decide(annClient, id, 'delegate', { user_id: cy.user.id });
  expect(delegated.status, JSON.stringify(delegated.body)).toBe(201);
  await decide(await signedIn(world, cy), delegated.body.id, 'approve');
  await decide(annClient, id, 'approve');
  await ground.step(instanceId);
  expect(await ground.statusOf(held.id)).toBe('open');
  await decide(benClient, await ground.openAssignment(instanceId, ben), 'approve');
  await ground.step(instanceId);
  expect(await ground.statusOf(held.id)).toBe('completed');
});

test('an assignment is handed over, by the person or an admin, and never by the submitter or to them', async () => {
  const cy = await buildPerson(world, { organization: ground.owner.organization, role: 'member' });
  await ground.show(held.id, await ground.group(cy));
  const instanceId = await heldChange();
  const id = await ground.openAssignment(instanceId, ann);
  expectProblem(await decide(ownerClient, id, 'reassign', { user_id: sam.user.id }), 'rule_violated');
  expectProblem(await decide(ownerClient, id, 'reassign', { user_id: ben.user.id }), 'rule_violated');
  expectProblem(await decide(samClient, id, 'reassign', { user_id: cy.user.id }), 'not_found');
  expect((await decide(ownerClient, id, 'reassign', { user_id: cy.user.id })).status).toBe(201);
  expectProblem(await decide(annClient, id, 'approve'), 'already_decided');
  const cyClient = await signedIn(world, cy);
  for (const [client, person] of [
    [cyClient, cy],
    [benClient, ben],
  ] as const)
    await decide(client, await ground.openAssignment(instanceId, person), 'approve');
  await ground.step(instanceId);
  expect(await ground.statusOf(held.id)).toBe('completed');
});

test('an admin cancels a workflow, or completes it without decisions, and says why', async () => {
  const instanceId = await heldChange();
  const path = `/v1/workflow-instances/${instanceId}`;
  expectProblem((await annClient?.post(`${path}/cancel`, { reason: 'No.' })) as never, 'permission_denied');
  expect((await ownerClient?.post(`${path}/force-complete`, { reason: 'Urgent.', is_applied: true }))?.status).toBe(
    200,
  );
  expect(await ground.statusOf(held.id)).toBe('completed');
  expect(new Set((await ground.assignments(instanceId)).map(({ status }) => status))).toEqual(new Set(['cancelled']));
  expectProblem((await ownerClient?.post(`${path}/cancel`, { reason: 'No.' })) as never, 'rule_violated');
  held = await ground.task({ assigneeId: sam.user.id });
  await ground.show(held.id, security);
  const others = [await heldChange(), instanceId];
  const ended = await ownerClient?.post('/v1/workflow-instances/cancel', { ids: others, reason: 'A mistake.' });
  expect(ended?.body.data, JSON.stringify(ended?.body)).toMatchObject([{ code: null }, { code: 'rule_violated' }]);
  expect(await ground.statusOf(held.id)).toBe('open');
});

test('a person does not write an own change without approvals', async () => {
  const version = await twoOf();
  const instanceId = await ground.hold(version, ground.owner, held, { status: 'completed' });
  await ground.step(instanceId);
  const path = `/v1/workflow-instances/${instanceId}/force-complete`;
  const answer = await ownerClient?.post(path, { reason: 'I want it.', is_applied: true });
  expectProblem(answer as never, 'rule_violated');
  expect(await ground.statusOf(held.id)).toBe('open');
});

test('a change that cannot be written ends nothing, alone and together with others', async () => {
  const version = await twoOf();
  const ids = [];
  for (const title of ['one', 'two']) {
    const other = await ground.task({ assigneeId: sam.user.id, title });
    ids.push(
      await ground.hold(version, sam, other, { externalId: `taken by ${title === 'one' ? 'nobody' : 'another'}` }),
    );
  }
  const [free, taken] = ids;
  await ownerClient?.post('/v1/tasks', { title: 'three', external_id: 'taken by another' });
  const given = { reason: 'Urgent.', is_applied: true };
  const force = (of: string, body: object) => ownerClient!.post(`/v1/workflow-instances${of}/force-complete`, body);
  for (const refused of [await force(`/${taken}`, given), await force('', { ...given, ids })]) {
    expectProblem(refused, 'rule_violated');
    expect(refused.body.detail).toContain(`workflow ${taken} holds cannot be written: There is a task with this`);
  }
  for (const id of [free, taken]) expect((await ground.instance(String(id))).endedAt).toBeNull();
});

test('nobody reviews what a program has changed with a token of theirs, also once the token is deleted', async () => {
  const admin = await buildPerson(world, { organization: ground.owner.organization, role: 'admin' });
  const reviewers = await ground.group(admin, ben);
  await ground.show(held.id, reviewers);
  const version = await ground.publish(
    [{ key: 'seen', type: 'REQUEST_REVIEW', params: { targets: [{ type: 'GROUP', id: reviewers }] } }],
    { approvalTiming: 'POST_COMMIT' },
  );
  const secret = { hint: 'x', keyId: 'k', secretHash: 'x'.repeat(43) };
  const tokenId = await asPerson(world, admin, ground.organizationId, async (data) => {
    const { id } = await data.create(apiToken, { name: 'bot', scopes: ['task:write'], ...secret });
    return id;
  });
  await ground.asServer(({ data }) => data.remove(apiToken, tokenId));
  const instanceId = await ground.asServer(async ({ data }) => {
    const { definitionId, id: versionId } = version;
    const about = { definitionId, versionId, recordKind: 'task', subjectId: held.id } as const;
    return (await data.create(workflowInstance, { ...about, initiatorTokenId: tokenId })).id;
  });
  await ground.step(instanceId);
  expect((await ground.assignments(instanceId)).map(({ userId }) => userId)).toEqual([ben.user.id]);
});

test('a submitter withdraws the change', async () => {
  const instanceId = await heldChange();
  const { proposalId } = await ground.instance(instanceId);
  const path = `/v1/workflow-proposals/task/${proposalId}/withdraw`;
  expectProblem((await annClient?.post(path, {})) as never, 'permission_denied');
  expect((await samClient?.post(path, { reason: 'Too early.' }))?.status).toBe(200);
  expect(await ground.instance(instanceId)).toMatchObject({ status: 'cancelled', reason: 'Too early.' });
});

test('a draft asks nobody until it is submitted', async () => {
  const instanceId = await ground.hold(await twoOf(), sam, held, { status: 'completed' }, 'draft');
  await ground.step(instanceId);
  expect(await ground.assignments(instanceId)).toEqual([]);
});

test('while workflows are switched off, every action says so', async () => {
  const instanceId = await heldChange();
  const id = await ground.openAssignment(instanceId, ann);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'false' });
  try {
    for (const verb of ['approve', 'reject', 'request-changes'])
      expectProblem(await decide(annClient, id, verb, { note: 'x' }), 'workflows_disabled');
    expectProblem((await annClient?.get('/v1/workflow-assignments/mine')) as never, 'workflows_disabled');
    const cancelled = await ownerClient?.post(`/v1/workflow-instances/${instanceId}/cancel`, { reason: 'x' });
    expectProblem(cancelled as never, 'workflows_disabled');
  } finally {
    await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  }
});
