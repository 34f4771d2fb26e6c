import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  apiToken,
  integration,
  integrationWebhook,
  invite,
  membership,
  organization,
  task,
  user,
} from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { lifecycleTool } from '#tools/commands/lifecycle-arguments.ts';
import { runLifecycleCommand } from '#tools/commands/lifecycle-commands.ts';
import { runOperatorCommand } from '#tools/commands/operator-commands.ts';
import { readCommand } from '#tools/commands/tool.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { doomed, left, remove, type Doomed } from '../../kit/doomed-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { buildPart, buildPerson, deletePerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
});
afterAll(() => world.close());

async function undelete(id: string): Promise<string> {
  const lines: string[] = [];
  const command = readCommand(lifecycleTool, ['undelete', id, '--reason', 'it was a mistake']);
  await runLifecycleCommand(command, { runtime: world.runtime, print: (line) => lines.push(line) });
  return lines.join('\n');
}

/** Waits until it is there again. */
function untilRestored({ id }: Pick<Doomed, 'id'>): Promise<true> {
  return eventually(async () => {
    const rows = await asOwner(
      world,
      `select 1 from organizations where id = $1 and deleted_at is null
       and not exists (select 1 from organization_removals where removed_organization_id = $1 and deleted_at is null)`,
      [id],
    );
    return rows.length === 1 && (true as const);
  }, 60_000);
}

function untilRemoved({ id }: Pick<Doomed, 'id'>): Promise<true> {
  return eventually(async () => {
    const [removal] = await asOwner<{ status: string }>(
      world,
      'select status from organization_removals where removed_organization_id = $1 and deleted_at is null',
      [id],
    );
    return removal?.status === 'completed' && (true as const);
  }, 60_000);
}

test('an organization that is undeleted before its removal has everything but its credentials', async () => {
  const gone = await doomed(world, 30);
  const { client, owner, id } = gone;
  const below = await world.runtime.database.transact(
    { caller: systemCaller('test'), requestId: newId() },
    ({ data }) => data.create(organization, { name: `Below ${gone.name}`, parentId: id }),
  );
  await asSystem(world, below.id, (data) => data.create(task, { title: 'below' }));
  // Without the tuples of the token.
  const before = await left(world, id);
  const made = await client.post('/v1/api-tokens', { name: 'program', scopes: ['task:read'] });
  expect(made.status).toBe(201);
  const program = world.client();
  program.bearer = made.body.token;
  expect((await program.get('/v1/tasks')).status).toBe(200);
  const invited = await client.post('/v1/invites', { recipient: 'late@example.com', role: 'member' });
  expect(invited.status).toBe(201);
  const deletedBefore = (await client.post('/v1/tasks', { title: 'deleted before' })).body;
  expect((await client.mutate({ method: 'DELETE', url: `/v1/tasks/${deletedBefore.id}` })).status).toBe(204);

  expect((await remove(gone)).status).toBe(204);
  expect([401, 403]).toContain((await program.get('/v1/tasks')).status);
  expect(await undelete(below.id)).toContain('undelete that first');
  expect(await undelete(id)).toContain('with 1 below it');
  expect(await undelete(id)).toContain('is being restored');
  const worker = await world.startWorker();
  await untilRestored(gone);

  expect(await left(world, id)).toEqual(before);
  expect((await left(world, below.id))['tasks']).toBe(1);
  const again = await signedIn(world, owner);
  expect((await again.post('/v1/switch', { target_organization_id: id })).status).toBe(200);
  expect((await again.get('/v1/tasks?first=100')).body.data).toHaveLength(before['tasks'] as number);
  expectProblem(await again.get(`/v1/tasks/${deletedBefore.id}`), 'not_found');
  expect([401, 403]).toContain((await program.get('/v1/tasks')).status);
  await asSystem(world, id, async (data) => {
    expect(await data.find(apiToken, { where: {}, limit: 10 })).toEqual([]);
    expect(await data.find(invite, { where: {}, limit: 10 })).toEqual([]);
    expect(await data.find(membership, { where: {}, limit: 10 })).toHaveLength(2);
  });
  // It can be deleted again.
  expect((await again.mutate({ method: 'DELETE', url: `/v1/organizations/${id}` })).status).toBe(204);
  await untilRemoved(gone);
  await worker.stop();
});

test('an organization that is undeleted after its removal has its contents, each with its history', async () => {
  const gone = await doomed(world, 250);
  const leaver = await buildPerson(world, { organization: await homeOf(gone), role: 'member' });
  await asSystem(world, gone.id, async (data) => {
    const { id: integrationId } = await data.create(integration, { name: 'chat' });
    await data.create(integrationWebhook, { integrationId, name: 'events', secret: 'x', allowedEvents: [] });
  });
  const worker = await world.startWorker();
  await eventually(async () => (await left(world, gone.id))['tasks'] === 254);
  const before = await left(world, gone.id);
  expect((await remove(gone)).status).toBe(204);
  await untilRemoved(gone);
  expect(await left(world, gone.id)).toMatchObject({ tasks: 0, groups: 0, memberships: 0, tuples: 0 });
  // Nobody brings back an account that was deleted meanwhile.
  await deletePerson(world, leaver.user.email);
  expect(await undelete(gone.id)).toContain('is being restored');
  await untilRestored(gone);
  expect(await left(world, gone.id)).toMatchObject({
    tasks: before['tasks'],
    groups: before['groups'],
    memberships: 2,
  });
  const again = await signedIn(world, gone.owner);
  await again.post('/v1/switch', { target_organization_id: gone.id });
  const [one] = (await again.get('/v1/tasks?first=1')).body.data;
  const versions = await asOwner<{ operation: string; actor: string }>(
    world,
    'select operation, actor from history where entity_id = $1 order by record_version desc limit 2',
    [one.id],
  );
  expect(versions).toMatchObject([
    { operation: 'updated', actor: 'system:undelete organization' },
    { operation: 'deleted' },
  ]);
  await asSystem(world, gone.id, async (data) => {
    expect(await data.find(integration, { where: {}, limit: 10 })).toHaveLength(1);
    expect(await data.find(integrationWebhook, { where: {}, limit: 10 })).toEqual([]);
  });
  await worker.stop();
});

test('an organization with many members is undeleted in short transactions', async () => {
  const gone = await doomed(world, 2);
  const organizationId = gone.id;
  await world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, async ({ data }) => {
    const people = await data.createAll(
      Array.from({ length: 450 }, (_, index) => ({
        module: user,
        input: { email: `member-${index}@${organizationId.toLowerCase()}.example`, displayName: `Member ${index}` },
        path: '',
      })),
    );
    await data.createAll(
      people.map(({ id: userId }) => ({
        module: membership,
        input: { organizationId, userId, role: 'member' },
        path: '',
      })),
    );
  });
  const before = await left(world, gone.id);
  expect((await remove(gone)).status).toBe(204);
  await undelete(gone.id);
  const worker = await world.startWorker();
  await untilRestored(gone);
  expect(await left(world, gone.id)).toEqual(before);
  const [largest] = await asOwner<{ members: number }>(
    world,
    'select count(*)::int as members from memberships where organization_id = $1 group by xmin::text order by 1 desc limit 1',
    [gone.id],
  );
  expect(largest?.members).toBeLessThanOrEqual(200);
  await worker.stop();
});

test('an organization that is undeleted during its removal is whole again', async () => {
  const gone = await doomed(world, 1_500);
  const worker = await world.startWorker();
  await eventually(async () => (await left(world, gone.id))['tasks'] === 1_504);
  const before = await left(world, gone.id);
  expect((await remove(gone)).status).toBe(204);
  await eventually(async () => (await left(world, gone.id))['tasks'] !== 1_504);
  expect(await undelete(gone.id)).toContain('is being restored');
  await untilRestored(gone);
  expect(await left(world, gone.id)).toEqual(before);
  await worker.stop();
});

test('a taken name, and a deletion of more than seven days ago, are refused with the reason', async () => {
  const gone = await doomed(world, 2);
  expect((await remove(gone)).status).toBe(204);
  const again = await signedIn(world, gone.owner);
  const taken = await again.post('/v1/organizations', { name: gone.name });
  expect(taken.status).toBe(201);
  expect(await undelete(gone.id)).toContain('rename that first');
  expect(await undelete(newId())).toContain('No deleted organization');
  world.clock.advance(8 * 86_400_000);
  expect(await undelete(gone.id)).toContain('more than 7 days ago; the contents of its files are no longer kept');
});

test('an organization without an owner is refused: contents of people who have deleted their accounts do not come back', async () => {
  const gone = await doomed(world, 2);
  await buildPerson(world, { organization: await homeOf(gone), role: 'admin' });
  const below = await buildPart(world, gone.id);
  expect((await remove(gone)).status).toBe(204);
  await deletePerson(world, gone.owner.user.email);
  expect(await undelete(gone.id)).toContain('has no owner any more');
  expect(await undelete(below.id)).toContain('undelete that first');
  const removals = await asOwner(
    world,
    `select 1 from organization_removals where removed_organization_id = $1 and status = 'undoing'`,
    [gone.id],
  );
  expect(removals).toEqual([]);
});

test('operators undo a removal over REST; others do not', async () => {
  const person = await buildPerson(world);
  const operator = await signedIn(world, person);
  const { app } = await enroll(world, operator);
  const grant = { name: 'grant', person: person.user.email, by: 'somebody@machine', reason: 'duty' } as const;
  await runOperatorCommand(grant, { runtime: world.runtime, print: () => {} });
  const gone = await doomed(world, 3);
  expect((await remove(gone)).status).toBe(204);
  const [removal] = (await operator.get('/v1/operations/removals?is_open=true')).body.data;
  expect(removal).toMatchObject({ organization_id: gone.id, requester_id: gone.owner.user.id, open_steps: [] });
  const url = `/v1/operations/removals/${removal.id}/undo`;
  const reason = { reason: 'a mistake' };
  expectProblem(await (await signedIn(world, await buildPerson(world))).post(url, reason), 'permission_denied');
  await operator.post('/v1/2fa/step-up', { code: await app.nextCode() });
  expectProblem(await operator.post(`/v1/operations/removals/${newId()}/undo`, reason), 'not_found');
  expect(await operator.post(url, reason)).toMatchObject({
    status: 202,
    body: { id: removal.id, organization_id: gone.id, organizations: 1 },
  });
  const [undoing] = (await operator.get('/v1/operations/removals?is_open=true')).body.data;
  expect(undoing).toMatchObject({ id: removal.id, status: 'undoing' });
  const worker = await world.startWorker();
  await untilRestored(gone);
  await worker.stop();
});

function homeOf({ id }: Doomed) {
  return world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, ({ data }) =>
    data.get(organization, id),
  );
}
