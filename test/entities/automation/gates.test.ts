import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workflowVersion } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { gateOf, publishGate } from '../../kit/automation/publish-gate.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let other: TestClient;

beforeAll(async () => {
  // Expressions of a busy machine take longer than those of a server.
  const environment = { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' };
  world = await openWorld({ environment });
});
afterAll(() => world.close());

/** An organization of its own for each group of tests: gates hold the changes of all. */
async function begin(): Promise<void> {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  other = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'owner' }));
}

async function made(values: object = {}): Promise<string> {
  const { status, body } = await client.post('/v1/tasks', { title: 'first', ...values });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}

const patch = (id: string, payload: object, as = client) =>
  as.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload });

const remove = (id: string, as = client) => as.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });

const taskOf = async (id: string) => (await client.get(`/v1/tasks/${id}`)).body;

const proposalsOf = (id: string) =>
  asOwner(
    world,
    `select p.trigger, p.domain, p.changes, p.base_values, p.revision, p.status, p.submitter_id, i.status as instance, i.round
      from task_proposals p left join workflow_instances i on i.id = p.instance_id where p.task_id = $1 order by p.id`,
    [id],
  );

describe('a gate of fields', () => {
  beforeAll(async () => {
    await begin();
    await publishGate(world, owner.organization.id, gateOf({ fields: ['status', 'due_at'] }));
  });

  test('holds them until people agree, and lets the others be written', async () => {
    const id = await made();
    const { status, body } = await patch(id, { status: 'completed', title: 'second' });
    expect([status, body.status, body.title, body.completed_at, body.record_version]).toEqual([
      200,
      'open',
      'second',
      null,
      2,
    ]);
    expect(body.held).toEqual([{ field: 'status', message: expect.stringContaining('Four eyes') }]);
    expect(await proposalsOf(id)).toEqual([
      {
        trigger: 'update',
        domain: 'status',
        changes: { status: 'completed' },
        base_values: { status: 'open' },
        revision: 1,
        status: 'submitted',
        submitter_id: owner.user.id,
        instance: 'running',
        round: 1,
      },
    ]);
  });

  test('is answered with the proposal, and with 202 if nothing else was written', async () => {
    const id = await made();
    const all = await patch(id, { status: 'completed' });
    const [, path = ''] = /^<(\/v1\/task-proposals\/\w+)>; rel="related"$/.exec(String(all.headers['link'])) ?? [];
    expect([all.status, all.body.status]).toEqual([202, 'open']);
    expect((await client.get(path)).body).toMatchObject({
      task_id: id,
      changes: { status: 'completed' },
      status: 'submitted',
    });
    const part = await patch(await made(), { status: 'completed', title: 'second' });
    expect([part.status, part.headers['link']]).toEqual([200, expect.stringContaining('/v1/task-proposals/')]);
    const none = await patch(await made(), { title: 'second' });
    expect([none.status, none.headers['link']]).toEqual([200, undefined]);
  });

  test('is a filter of lists', async () => {
    const [open, none] = [await made({ tags: ['listed'] }), await made({ tags: ['listed'] })];
    await patch(open, { status: 'completed' });
    const listed = async (has: boolean) => {
      const { body } = await client.get(`/v1/tasks?tags=listed&has_open_proposal=${has}`);
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect([await listed(true), await listed(false)]).toEqual([[open], [none]]);
    const query = `{ tasks(where: { tags: { has: "listed" }, proposals: { endedAt: { isNull: true } } }) { edges { node { id } } } }`;
    expect((await client.graphql(query)).data.tasks.edges).toEqual([{ node: { id: open } }]);
  });

  test('is answered by GraphQL with the proposal', async () => {
    const id = await made();
    const mutation = `mutation ($id: ID!, $input: UpdateTaskInput!) { updateTask(id: $id, input: $input) {
      task { status proposals(where: { endedAt: { isNull: true } }) { totalCount } } held { field } proposals { task { id } changes } } }`;
    const { data } = await client.graphql(mutation, { id, input: { status: 'COMPLETED' } });
    expect(data.updateTask).toEqual({
      task: { status: 'OPEN', proposals: { totalCount: 1 } },
      held: [{ field: 'status' }],
      proposals: [{ task: { id }, changes: { status: 'completed' } }],
    });
  });

  test('leaves no version, history entry or event of a record of which all changes are held', async () => {
    const id = await made();
    const traces = () =>
      asOwner(
        world,
        `select (select count(*)::int from events where entity_id = $1) as events, record_version from tasks where id = $1`,
        [id],
      );
    const before = await traces();
    expect((await patch(id, { status: 'completed' })).body.status).toBe('open');
    expect(await traces()).toEqual(before);
  });

  test('gets another revision by another change of the same person, and refuses one of somebody else', async () => {
    const id = await made();
    await patch(id, { status: 'completed' });
    await patch(id, { due_at: '2030-01-01T00:00:00Z' });
    await patch(id, { status: 'completed' });
    expect(await proposalsOf(id)).toMatchObject([
      {
        domain: 'dueAt,status',
        changes: { status: 'completed', dueAt: '2030-01-01T00:00:00.000Z' },
        revision: 2,
        round: 2,
      },
    ]);
    expectProblem(await patch(id, { status: 'in_review' }, other), 'proposal_open');
    expect((await patch(id, { title: 'free' }, other)).body.title).toBe('free');
  });

  test('takes along a value that is valid only with the held one', async () => {
    const id = await made();
    const completed_at = '2026-01-01T00:00:00Z';
    const { status, body } = await patch(id, { status: 'completed', completed_at });
    expect([status, body.completed_at]).toEqual([202, null]);
    expect(body.held.map(({ field }: { field: string }) => field)).toEqual(['completed_at', 'status']);
  });

  test('holds nothing of a change that is refused', async () => {
    const id = await made();
    expectProblem(await patch(id, { status: 'completed', record_version: 7 }), 'stale_record');
    expectProblem(await patch(id, { status: 'completed', parent_id: id }), 'invalid_input');
    expect(await proposalsOf(id)).toEqual([]);
  });

  test('does not hold the work of the server, a deletion, or changes in another organization', async () => {
    const id = await made();
    expect((await remove(id)).status).toBe(204);
    const stranger = await signedIn(world, await buildPerson(world));
    const { body } = await stranger.post('/v1/tasks', { title: 'theirs' });
    expect((await patch(body.id as string, { status: 'completed' }, stranger)).body.status).toBe('completed');
  });

  test('holds nothing while workflows are off, nor once its version has ended', async () => {
    shows('workflows.enabled');
    const id = await made();
    await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'false' });
    expect((await patch(id, { status: 'in_progress' })).body.status).toBe('in_progress');
    await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
    expect((await patch(id, { status: 'completed' })).body.status).toBe('in_progress');
    const organizationId = owner.organization.id;
    const context = { caller: systemCaller('test', organizationId), requestId: newId() };
    await world.runtime.database.transact(context, async ({ data }) => {
      const versions = await data.find(workflowVersion, {
        where: { organizationId: { eq: organizationId } },
        limit: 9,
      });
      for (const { id: version } of versions)
        await data.update(workflowVersion, version, { endedAt: world.clock.now() });
    });
    const another = await made();
    expect((await patch(another, { status: 'completed' })).body.status).toBe('completed');
  });
});

describe('a gate with expressions', () => {
  beforeAll(begin);

  test('holds only the changes that they name', async () => {
    const document = gateOf({
      triggers: [
        {
          operation: 'UPDATE',
          fields: ['status'],
          expression: `object.status == "completed" && old_object.priority > 5`,
        },
      ],
      conditions: [{ expression: `'status' in changed_fields && event_type == "UPDATE"` }],
    });
    await publishGate(world, owner.organization.id, document);
    const [low, high] = [await made({ priority: 5 }), await made({ priority: 6 })];
    expect((await patch(low, { status: 'completed' })).body.status).toBe('completed');
    expect((await patch(high, { status: 'in_review' })).body.status).toBe('in_review');
    expect((await patch(high, { status: 'completed' })).body.status).toBe('in_review');
  });

  test('holds only changes of records that its selector names', async () => {
    const name = newId();
    const { body: wanted } = await client.post('/v1/tags', { name });
    const document = gateOf({ fields: ['priority'], targets: { tagIds: [wanted.id as string] } });
    await publishGate(world, owner.organization.id, document);
    const [without, having] = [await made(), await made({ tags: [name] })];
    expect((await patch(without, { priority: 7 })).body.priority).toBe(7);
    expect((await patch(having, { priority: 7 })).body.priority).toBe(0);
  });

  test('holds what it cannot decide', async () => {
    const document = gateOf({
      fields: ['title'],
      triggers: [
        { operation: 'UPDATE', fields: ['title'], expression: `1 / (size(object.title) - size(object.title)) == 0` },
      ],
    });
    await publishGate(world, owner.organization.id, document);
    const id = await made();
    expect((await patch(id, { title: 'second' })).body.title).toBe('first');
  });

  test('does not hold the fields of an approval that does not apply', async () => {
    const targets = [{ type: 'ROLE', id: 'owner' }] as const;
    const document = gateOf({
      triggers: [{ operation: 'UPDATE' }],
      actions: [
        { key: 'one', type: 'REQUEST_APPROVAL', params: { fields: ['tags'], targets }, when: 'size(object.tags) > 1' },
        { key: 'two', type: 'REQUEST_APPROVAL', params: { fields: ['details'], targets }, when: 'false' },
      ],
    });
    await publishGate(world, owner.organization.id, document);
    const id = await made();
    expect((await patch(id, { tags: ['a'], details: 'text' })).body).toMatchObject({
      tags: ['a'],
      details: 'text',
      held: [],
    });
    const { body } = await patch(id, { tags: ['a', 'b'], details: 'more' });
    expect(body).toMatchObject({ tags: ['a'], details: 'more', held: [{ field: 'tags' }] });
  });
});

describe('a gate of deletions', () => {
  beforeAll(async () => {
    await begin();
    const targets = [{ type: 'ROLE', id: 'owner' }] as const;
    await publishGate(
      world,
      owner.organization.id,
      gateOf({
        triggers: [{ operation: 'DELETE' }],
        actions: [{ key: 'agree', type: 'REQUEST_APPROVAL', params: { targets } }],
      }),
    );
  });

  test('keeps the record', async () => {
    const id = await made();
    const { status, body, headers } = await remove(id);
    expect([status, headers['link']]).toEqual([202, expect.stringContaining('/v1/task-proposals/')]);
    expect(body.held).toEqual([{ field: null, message: expect.stringContaining('Four eyes') }]);
    expect((await taskOf(id)).record_version).toBe(1);
    expect(await proposalsOf(id)).toMatchObject([{ trigger: 'delete', domain: '', changes: {}, status: 'submitted' }]);
    expectProblem(await remove(id, other), 'proposal_open');
    expect((await patch(id, { status: 'completed' })).body.status).toBe('completed');
  });

  test('keeps the records of a bulk deletion, which are not named as deleted', async () => {
    const ids = [await made(), await made()];
    const mutation = `mutation ($ids: [ID!]!) { deleteBulkTask(ids: $ids) { deletedIds notDeleted { id code } held { id field } proposals { trigger } } }`;
    expect((await client.graphql(mutation, { ids })).data.deleteBulkTask).toEqual({
      deletedIds: [],
      notDeleted: [],
      held: ids.map((id) => ({ id, field: null })),
      proposals: [{ trigger: 'DELETE' }, { trigger: 'DELETE' }],
    });
    const one = `mutation ($id: ID!) { deleteTask(id: $id) { deletedId held { field } proposals { status } } }`;
    expect((await client.graphql(one, { id: ids[0] })).data.deleteTask).toEqual({
      deletedId: ids[0],
      held: [{ field: null }],
      proposals: [{ status: 'SUBMITTED' }],
    });
    for (const id of ids) expect(await proposalsOf(id)).toHaveLength(1);
  });

  test('does not keep what is deleted with another record', async () => {
    const id = await made();
    const part = await made({ parent_id: id });
    await world.runtime.database.transact(
      { caller: systemCaller('test', owner.organization.id), requestId: newId() },
      ({ data }) => data.remove(world.runtime.database.options.registry.byKind('task'), id),
    );
    expect((await client.get(`/v1/tasks/${part}`)).status).toBe(404);
  });
});

test('a definition whose changes are submitted by hand makes a draft', async () => {
  await begin();
  await publishGate(world, owner.organization.id, gateOf({ approvalSubmissionMode: 'MANUAL_SUBMIT' }));
  const id = await made();
  await patch(id, { status: 'completed' });
  await patch(id, { status: 'in_review' });
  expect(await proposalsOf(id)).toMatchObject([
    { status: 'draft', changes: { status: 'in_review' }, revision: 2, instance: null },
  ]);
});
