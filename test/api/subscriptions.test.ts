import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventSubscriber } from '../kit/event-subscriber.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let url: string;
let person: Person;
let client: TestClient;
let headers: Record<string, string>;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  ({ url } = await world.listen());
  person = await buildPerson(world);
  client = await signedIn(world, person);
  headers = { authorization: `Bearer ${client.cookies.get('access_token')}` };
});
afterAll(async () => {
  for (const log of world.logs) if (['error', 'warn'].includes(String(log['level']))) console.log(JSON.stringify(log));
  await world.close();
});

const changes = `subscription ($after: String, $ids: [ID!]) {
  recordChanged(kinds: [TASK], ids: $ids, after: $after) { operation kind id recordVersion cursor record { id ... on Task { title } } }
}`;

async function createTask(title: string): Promise<string> {
  const { data } = await client.graphql(`mutation ($title: String!) { createTask(input: { title: $title }) { task { id } } }`, {
    title,
  });
  return data.createTask.task.id as string;
}

describe('changes of records', () => {
  test('are told with what is selected, and with a cursor from which to go on', async () => {
    const subscriber = await EventSubscriber.open(url, changes, headers);
    const first = await subscriber.next();
    expect(first?.data.recordChanged).toMatchObject({ operation: 'POSITION', id: null, record: null });
    const id = await createTask('subscribed');
    const created = await subscriber.next();
    expect(created?.data.recordChanged).toMatchObject({
      operation: 'CREATED',
      kind: 'TASK',
      id,
      recordVersion: 1,
      record: { id, title: 'subscribed' },
    });
    await client.graphql(`mutation { updateTask(id: "${id}", input: { title: "again" }) { task { id } } }`);
    const updated = await subscriber.next();
    expect(updated?.data.recordChanged).toMatchObject({ operation: 'UPDATED', id, record: { title: 'again' } });
    await client.graphql(`mutation { deleteTask(id: "${id}") { deletedId } }`);
    const deleted = await subscriber.next();
    expect(deleted?.data.recordChanged).toMatchObject({ operation: 'DELETED', id, record: null });
    subscriber.close();

    const again = await EventSubscriber.open(url, changes, headers, { after: created?.data.recordChanged.cursor });
    expect((await again.next())?.data.recordChanged.operation).toBe('POSITION');
    // Deleted by now, so nobody can view what was updated.
    expect((await again.next())?.data.recordChanged).toMatchObject({ operation: 'DELETED', id });
    again.close();
  });
});
