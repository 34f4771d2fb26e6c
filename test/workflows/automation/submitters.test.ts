import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { task } from '#entities/index.ts';
import { ApprovalTeam } from '../../kit/automation/approval-team.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import type { Person } from '../../kit/people.ts';
import { tokenProgram } from '../../kit/processes/token-program.ts';
import { whileLocked } from '../../kit/records/while-locked.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let team: ApprovalTeam;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_WORKFLOWS_ENABLED: 'true',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(64),
    },
  });
});
afterAll(() => world.close());

beforeEach(async () => {
  team = await ApprovalTeam.open(world);
});

const sorts = ['api', 'personal'] as const;

/** A program of an API token, which the owner has made, or of a personal token of the person whose task it is. */
const program = (sort: (typeof sorts)[number]) =>
  tokenProgram(world, {
    sort,
    scopes: ['task:write'],
    by: sort === 'api' ? team.owner.client : team.sam.client,
    organizationId: team.owner.organization.id,
  });

describe.each(sorts)('a change by a token (%s)', (sort) => {
  test('is held, and written as by the token when it is approved', async () => {
    const published = await team.publish();
    const by = await program(sort);
    const proposal = await team.held(undefined, by);
    const submitterId = sort === 'api' ? null : team.sam.user.id;
    expect(proposal).toMatchObject({ status: 'submitted', submitter_id: submitterId });
    await team.approve(team.ann, team.ben);
    await team.instance(published, 'completed');
    const actor = sort === 'api' ? `api_token:${by.id}` : `user:${team.sam.user.id}`;
    expect((await team.task())['status']).toBe('completed');
    expect(await team.writer()).toBe(actor);
  });

  test('is rejected when the token was revoked before it is approved', async () => {
    const published = await team.publish();
    const by = await program(sort);
    await team.held(undefined, by);
    await team.asked(team.ann);
    const [maker, url] =
      sort === 'api'
        ? [team.owner.client, `/v1/api-tokens/${by.id}`]
        : [team.sam.client, `/v1/personal-access-tokens/${by.id}`];
    expect((await maker.mutate({ method: 'DELETE', url })).status).toBe(204);
    await team.approve(team.ann, team.ben);
    expect(await team.instance(published, 'rejected')).toMatchObject({
      reason: 'The token with which this work was started is no longer valid here.',
    });
    expect(await team.proposal()).toMatchObject({ status: 'rejected', reason_code: 'permission_denied' });
    expect((await team.task())['status']).toBe('open');
  });

  test('is held by a definition that is published while it waits for the record', async () => {
    const by = await program(sort);
    // The server knows the token, and that no definition holds its changes.
    expect((await team.change({ title: 'Rotate all keys' }, by)).status).toBe(200);
    const work = () => team.change(undefined, by);
    const answer = await whileLocked(world, [task, team.taskId], work, () => team.publish());
    expect([answer.status, answer.body.status], JSON.stringify(answer.body)).toEqual([202, 'open']);
    expect(await team.proposal()).toMatchObject({ status: 'submitted' });
  });
});

test('whoever has made an API token does not decide about its changes, also when it is revoked', async () => {
  const targets = [{ type: 'ROLE', id: 'owner' }, team.group] as const;
  const published = await team.publish({ targets, required_count: 1 });
  const by = await program('api');
  await team.held(undefined, by);
  const { id } = await team.instance(published, 'waiting');
  expect(await team.assignmentsOf(id, team.owner)).toEqual([]);
  await team.owner.client.mutate({ method: 'DELETE', url: `/v1/api-tokens/${by.id}` });
  const asked = await team.asked(team.ann);
  expectProblem(await team.decide(team.ann, asked['id'], 'delegate', { user_id: team.owner.user.id }), 'rule_violated');
});

test('a change by an API token is submitted at once: nobody could submit its draft', async () => {
  await team.publish({}, { approvalSubmissionMode: 'MANUAL_SUBMIT' });
  expect(await team.held(undefined, await program('api'))).toMatchObject({ status: 'submitted' });
  await team.asked(team.ann);
});

test('a draft by a personal token is submitted by its person', async () => {
  const published = await team.publish({}, { approvalSubmissionMode: 'MANUAL_SUBMIT' });
  const by = await program('personal');
  const { id } = await team.held(undefined, by);
  const url = `/v1/workflow-proposals/task/${id}/submit`;
  expectProblem(await by.post(url), 'permission_denied');
  expect((await team.sam.client.post(url)).status).toBe(200);
  await team.approve(team.ann, team.ben);
  await team.instance(published, 'completed');
});

describe('somebody who acts as another person', () => {
  async function actingAs(person: Person): Promise<TestClient> {
    const given = { user_id: person.user.id, reason: 'A call for help.' };
    const { status, body } = await team.owner.client.post('/v1/impersonation', given);
    expect(status, JSON.stringify(body)).toBe(201);
    const client = world.client();
    client.bearer = body.access_token;
    return client;
  }

  test('does not approve the change, and neither does that person', async () => {
    const targets = [{ type: 'ROLE', id: 'owner' }, team.user(team.sam), team.group] as const;
    const published = await team.publish({ targets, required_count: 1 });
    await team.held(undefined, await actingAs(team.sam));
    const asked = await team.asked(team.ann);
    const { id } = await team.instance(published, 'waiting');
    const people = (await team.ground.assignments(id)).map(({ userId }) => userId);
    expect(people.toSorted()).toEqual([team.ann.user.id, team.ben.user.id].toSorted());
    for (const { user } of [team.owner, team.sam])
      expectProblem(await team.decide(team.ann, asked['id'], 'reassign', { user_id: user.id }), 'rule_violated');
    expectProblem(
      await team.decide(team.owner, asked['id'], 'reassign', { user_id: team.cy.user.id }),
      'rule_violated',
    );
    const forced = { reason: 'Urgent.', is_applied: true };
    expectProblem(await team.owner.client.post(`/v1/workflow-instances/${id}/force-complete`, forced), 'rule_violated');
    await team.approve(team.ann);
    await team.instance(published, 'completed');
    expect((await team.task())['status']).toBe('completed');
  });

  test('decides nothing in their name', async () => {
    await team.publish({ required_count: 1 });
    await team.held();
    const { id } = await team.asked(team.ann);
    const acting = await actingAs(team.ann);
    for (const verb of ['approve', 'reject'])
      expectProblem(
        await acting.post(`/v1/workflow-assignments/${id}/${verb}`, { note: 'In her name.' }),
        'permission_denied',
      );
    expect(await team.isAsked(team.ann)).toBe(true);
  });

  test('does not review the change, also when others have changed the record since', async () => {
    const targets = [team.group];
    const look = { key: 'look', type: 'REQUEST_REVIEW', params: { targets, required_count: 1 } } as const;
    const published = await team.publish({}, { actions: [look] });
    expect((await team.change(undefined, await actingAs(team.sam))).status).toBe(200);
    await team.instance(published, 'waiting');
    expect((await team.change({ title: 'Rotate all keys' })).status).toBe(200);
    const asked = await team.asked(team.ann);
    const toOwner = { user_id: team.owner.user.id };
    expectProblem(await team.decide(team.ann, asked['id'], 'delegate', toOwner), 'rule_violated');
    await team.approve(team.ann);
    await team.instance(published, 'completed');
  });
});
