import { Client } from 'pg';
import { newId } from '#entities/kit/base/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasNoMatchedForm } from '#entities/kit/storage/matched-form.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
const titles = ['A naïve plan', 'Trip to Łódź', 'Ångström', 'STRAßE', 'Plain text', 'Größe 50%'];

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  for (const title of titles) expect((await client.post('/v1/tasks', { title })).status).toBe(201);
});
afterAll(() => world.close());

const found = async (query: string): Promise<string[]> => {
  const { status, body } = await client.get(`/v1/tasks?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.map(({ title }: { title: string }) => title);
};

const both = (operator: string, cases: readonly [string, number[]][]) =>
  cases.map(([text, places]): [string, string, number[]] => [operator, text, places]);

describe('a filter by a part of a text ignores case and accents', () => {
  test.each([
    ...both('contains', [
      ['naive', [0]],
      ['NAÏVE', [0]],
      ['lodz', [1]],
      ['łódź', [1]],
      ['Lódz', [1]],
      ['angstrom', [2]],
      ['A\u030angstro\u0308m', [2]],
      ['strasse', [3]],
      ['straße', [3]],
      ['pláin', [4]],
      ['0%', [5]],
      ['_', []],
      [' ', [0, 1, 4, 5]],
    ]),
    ...both('starts_with', [
      ['a', [0, 2]],
      ['ANG', [2]],
      ['strass', [3]],
      ['trip to l', [1]],
      ['lodz', []],
      ['%', []],
      ['a'.repeat(120), []],
    ]),
    ...both('ends_with', [
      ['LODZ', [1]],
      ['STRÖM', [2]],
      ['asse', [3]],
      ['plan', [0]],
      ['a', []],
    ]),
  ])('%s %j', async (operator, text, places) => {
    const expected = places.map((place) => titles[place]);
    expect(await found(`title[${operator}]=${encodeURIComponent(text)}`)).toEqual(expected);
    const name = { contains: 'contains', starts_with: 'startsWith', ends_with: 'endsWith' }[operator] as string;
    const { data } = await client.graphql(
      'query ($where: TaskWhere) { tasks(where: $where) { edges { node { title } } } }',
      {
        where: { title: { [name]: text } },
      },
    );
    expect(data.tasks.edges.map(({ node }: { node: { title: string } }) => node.title)).toEqual(expected);
    const view = await client.post('/v1/saved-views', {
      // Texts that match each other have one name.
      name: newId(),
      record_kind: 'task',
      filter: { title: { [name]: text } },
    });
    expect(view.status, JSON.stringify(view.body)).toBe(201);
    expect(await found(`view=${view.body.id}`)).toEqual(expected);
  });

  test('and equality does not', async () => {
    expect(await found(`title=${encodeURIComponent('Trip to Łódź')}`)).toEqual(['Trip to Łódź']);
    expect(await found('title=Trip%20to%20Lodz')).toEqual([]);
    expect(await found('title[in]=plain%20text')).toEqual([]);
  });

  test.each(['', '\u0301', '\u200b\u00ad'])('and refuses a part that every text has: %j', async (text) => {
    for (const operator of ['contains', 'starts_with', 'ends_with'])
      expectProblem(await client.get(`/v1/tasks?title[${operator}]=${encodeURIComponent(text)}`), 'invalid_input');
  });

  test('of kinds that span organizations, too', async () => {
    const [person] = (await client.get('/v1/users?display_name[contains]=PÉRSON')).body.data;
    expect(person.id).toBe(owner.user.id);
    expect((await client.get('/v1/users?display_name[starts_with]=pers')).body.data).toHaveLength(1);
    expect((await client.get('/v1/organizations?name[ends_with]=nothing')).body.data).toEqual([]);
  });
});

test('characters that have no matched form are the same for the program and for the database', async () => {
  const characters = Array.from({ length: 0xffff }, (_, code) => String.fromCodePoint(code + 1)).filter((character) =>
    character.isWellFormed(),
  );
  const rows = await asOwner<{ character: string }>(
    world,
    `select character from unnest($1::text[]) as character where matched_form(character) = ''`,
    [characters],
  );
  expect(rows.map(({ character }) => character)).toEqual(characters.filter(hasNoMatchedForm));
});

test('startsWith reads what begins so in the organization, by an index', async () => {
  const connection = new Client({ connectionString: world.databaseUrl });
  await connection.connect();
  try {
    await connection.query('begin');
    await connection.query(
      `insert into tasks select (jsonb_populate_record(t, jsonb_build_object(
         'id', lpad(n::text, 26, '0'), 'display_id', 'TSK-' || n, 'title', md5(n::text)))).*
       from tasks t, generate_series(1, 10000) as n where t.title = 'Plain text'`,
    );
    await connection.query('analyze tasks');
    // The statement of records_beginning.
    const { rows } = await connection.query<{ 'QUERY PLAN': string }>(
      `explain select t.id from tasks as t where t.organization_id = '${owner.organization.id}' and t.deleted_at is null
       and starts_with(left(matched_form(t.title), 100) collate "C", left('plan', 100)) and starts_with(matched_form(t.title), 'plan')`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/tasks_title_beginning.*Index Cond:.*>= 'plan'/s);
  } finally {
    await connection.end();
  }
});
