import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

async function task(input: object = {}): Promise<string> {
  const { status, body } = await client.post('/v1/tasks', { title: 'a task', ...input });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const move = (id: string, parent_id: string | null): Promise<TestAnswer> =>
  client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { parent_id } });

test('fifty creations at once get fifty display ids', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.post('/v1/tasks', { title: 'at once' })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  const ids = answers.map(({ body }) => body.display_id);
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) expect(id).toMatch(/^TSK-\w+$/);
});

test('a task is not part of itself, whatever the way round', async () => {
  const top = await task();
  const middle = await task({ parent_id: top });
  const bottom = await task({ parent_id: middle });
  for (const parent of [top, middle, bottom]) {
    const answer = await move(top, parent);
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toEqual([{ path: '/parent_id', message: 'The Task would be part of itself.' }]);
  }
  // Two moves at once that make a circle together: one of them is refused.
  const [one, two] = [await task(), await task()];
  const answers = await Promise.all([move(one, two), move(two, one)]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
});

test('a deleted task is no parent, and one that is deleted meanwhile takes its new part along', async () => {
  const gone = await task();
  await client.mutate({ method: 'DELETE', url: `/v1/tasks/${gone}` });
  const answer = await client.post('/v1/tasks', { title: 'orphan', parent_id: gone });
  expectProblem(answer, 'not_found');
  expect(answer.body.errors[0].path).toBe('/parent_id');
  expectProblem(await move(await task(), gone), 'not_found');
  for (let round = 0; round < 5; round++) {
    const parent = await task();
    const [made] = await Promise.all([
      client.post('/v1/tasks', { title: 'part', parent_id: parent }),
      client.mutate({ method: 'DELETE', url: `/v1/tasks/${parent}` }),
    ]);
    const found = made.status === 201 ? (await client.get(`/v1/tasks/${made.body.id}`)).status : made.status;
    expect(found).toBe(404);
  }
});
