import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { gateOf, publishGate } from '../../kit/automation/publish-gate.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  // Nothing delivers events here.
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' }, skipVerify: true });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

/** Whether a change of a new record is an event that waits for a listener. */
async function isPending(path: '/v1/tasks' | '/v1/tags', as = client): Promise<boolean> {
  const [name, topic] =
    path === '/v1/tasks' ? (['title', 'task.updated'] as const) : (['name', 'tag.updated'] as const);
  const { body } = await as.post(path, { [name]: newId() });
  await as.mutate({ method: 'PATCH', url: `${path}/${String(body.id)}`, payload: { [name]: newId() } });
  const [event] = await asOwner<{ pending: boolean }>(
    world,
    'select pending from events where topic = $1 and entity_id = $2',
    [topic, body.id],
  );
  return event?.pending ?? false;
}

test('an event that only definitions can want waits for a listener in organizations with such a definition', async () => {
  expect(world.runtime.database.options.hasListener('task.updated')).toBe(false);
  expect(await isPending('/v1/tasks')).toBe(false);
  await publishGate(world, owner.organization.id, gateOf({ approvalTiming: 'POST_COMMIT' }));
  expect(await isPending('/v1/tasks')).toBe(true);
  expect(await isPending('/v1/tags')).toBe(false);
  const stranger = await signedIn(world, await buildPerson(world));
  expect(await isPending('/v1/tasks', stranger)).toBe(false);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'false' });
  expect(await isPending('/v1/tasks')).toBe(false);
});

test('the deletion of a record waits for a listener while a workflow instance about the record is open', async () => {
  const person = await buildPerson(world);
  const as = await signedIn(world, person);
  const made = async () => (await as.post('/v1/tasks', { title: newId() })).body.id as string;
  const deleted = async (id: string) => {
    await as.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
    const [event] = await asOwner<{ pending: boolean }>(
      world,
      `select pending from events where topic = 'task.deleted' and entity_id = $1`,
      [id],
    );
    return event?.pending;
  };
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  expect(world.runtime.database.options.hasListener('task.deleted')).toBe(false);
  const [free, held, withdrawn, off] = [await made(), await made(), await made(), await made()];
  await publishGate(world, person.organization.id, gateOf({}));
  for (const id of [held, withdrawn, off]) {
    const payload = { status: 'completed' };
    expect((await as.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload })).status).toBe(202);
  }
  const { body } = await as.get(`/v1/task-proposals?task_id=${withdrawn}`);
  expect((await as.post(`/v1/workflow-proposals/task/${body.data[0].id}/withdraw`, {})).status).toBe(200);
  expect([await deleted(free), await deleted(held), await deleted(withdrawn)]).toEqual([false, true, false]);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'false' });
  expect(await deleted(off)).toBe(false);
});
