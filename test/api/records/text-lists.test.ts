import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tag, task } from '#entities/index.ts';
import { problemOf } from '#entities/kit/model/input.ts';
import { cellOfValue } from '#entities/kit/csv/csv-values.ts';
import { csvLine } from '#entities/kit/csv/csv-cells.ts';
import { seedOf, timesOf } from '../../kit/depth.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

type List = readonly string[];

/** What array literals, CSV and JSON have their own meanings for. */
const awkward = [
  'null',
  'NULL',
  'Null',
  ' a',
  'a ',
  'a,\tb',
  '{a}',
  '"',
  '""',
  '\\',
  '\\t',
  "'=1+1",
  '=1+1',
  ';',
  'a;b',
  '[1]',
  '\r\na',
];
const item = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ minLength: 1, maxLength: 64 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
);
const isAccepted = (list: List) => problemOf(task.fields.tags, list) === undefined;
const lists = fc.array(fc.array(item, { maxLength: 6 }).filter(isAccepted), { minLength: 1, maxLength: 10 });

function anyLists(name: string, check: (given: readonly List[]) => Promise<void>): Promise<void> {
  const examples: [readonly List[]][] = [[[awkward]]];
  const numRuns = timesOf({ sample: 3, prove: 50 });
  return fc.assert(fc.asyncProperty(lists, check), { seed: seedOf(name), numRuns, examples });
}

async function mutated(text: string, variables: object) {
  const { data, errors } = await client.graphql(text, variables);
  expect(errors).toBeUndefined();
  return data;
}

async function readBack(ids: readonly string[]): Promise<readonly List[]> {
  const { data } = await client.graphql(
    `query ($ids: [ID!]!) { tasks(first: 100, where: { id: { in: $ids } }) { edges { node { id tags } } } }`,
    { ids },
  );
  const byId = new Map(data.tasks.edges.map(({ node }: { node: { id: string; tags: List } }) => [node.id, node.tags]));
  return ids.map((id) => byId.get(id) as List);
}

test('any list comes back from REST as it was sent, also after a change', () =>
  anyLists('lists by REST', async (given) => {
    for (const tags of given) {
      const { status, body } = await client.post('/v1/tasks', { title: 'a', tags });
      expect([status, body.tags]).toEqual([201, tags]);
      const payload = { tags: [...tags, 'null'] };
      const changed = await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload });
      expect(changed.body.tags).toEqual([...tags, 'null']);
      expect((await client.get(`/v1/tasks/${body.id}`)).body.tags).toEqual([...tags, 'null']);
    }
  }));

test('any list comes back from GraphQL as it was sent, alone, in bulk and with another record', () =>
  anyLists('lists by GraphQL', async (given) => {
    const inputs = given.map((tags) => ({ title: 'a', tags }));
    const { createBulkTask } = await mutated(
      `mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id tags } } }`,
      { inputs },
    );
    const ids = createBulkTask.tasks.map(({ id }: { id: string }) => id);
    expect(createBulkTask.tasks.map(({ tags }: { tags: List }) => tags)).toEqual(given);
    expect(await readBack(ids)).toEqual(given);
    const [tags] = given;
    const { updateBulkTask } = await mutated(
      `mutation ($ids: [ID!]!, $input: UpdateTaskInput!) { updateBulkTask(ids: $ids, input: $input) { tasks { tags } } }`,
      { ids, input: { tags } },
    );
    expect(updateBulkTask.tasks).toEqual(ids.map(() => ({ tags })));
    expect(await readBack(ids)).toEqual(ids.map(() => tags));
    const { createTask } = await mutated(
      `mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { id tags subtasks { edges { node { id tags } } } } } }`,
      { input: { title: 'a', tags, createSubtasks: inputs } },
    );
    const children = createTask.task.subtasks.edges.map(({ node }: { node: { tags: List } }) => node.tags);
    expect(createTask.task.tags).toEqual(tags);
    expect(new Set(children.map(String))).toEqual(new Set(given.map(String)));
  }));

test('any list comes back from an import as it was sent', () =>
  anyLists('lists by CSV', async (given) => {
    const rows = given.map((tags) => csvLine(['imported', cellOfValue(task.fields.tags, tags)])).join('');
    const { createBulkCSVTask } = await mutated(
      `mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { id tags } } }`,
      { csv: `title,tags\n${rows}` },
    );
    expect(createBulkCSVTask.tasks.map(({ tags }: { tags: List }) => tags)).toEqual(given);
    expect(await readBack(createBulkCSVTask.tasks.map(({ id }: { id: string }) => id))).toEqual(given);
  }));

test('lists of other kinds are whole as well, and found by each of their items', async () => {
  const aliases = awkward.filter((text) => problemOf(tag.fields.aliases, [text]) === undefined);
  const { createTag } = await mutated(
    `mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id aliases } } }`,
    { input: { name: 'awkward', aliases } },
  );
  expect(createTag.tag.aliases).toEqual(aliases);
  for (const alias of aliases) {
    const { data } = await client.graphql(
      `query ($alias: String!) { tags(where: { aliases: { has: $alias } }) { edges { node { id } } } }`,
      { alias },
    );
    expect(data.tags.edges, alias).toEqual([{ node: { id: createTag.tag.id } }]);
  }
});
