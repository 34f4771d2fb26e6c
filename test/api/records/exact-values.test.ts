import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
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

/** A body whose numbers JavaScript has not read. */
const sent = (url: string, payload: string) =>
  client.mutate({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload });

const createTask = 'mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { id metadata } } }';

describe('a whole number in a JSON field', () => {
  const rounded = [
    {
      path: '/metadata',
      message:
        'is not accepted: it contains a whole number beyond 9007199254740991, which would be rounded; send it as a text',
    },
  ];
  const beyond = ['9007199254740992', '9007199254740993', '-9007199254740993', '123456789012345678901234567890'];

  test.each(beyond)('%s is refused by REST, in variables and in the document', async (number) => {
    const byRest = await sent('/v1/tasks', `{"title": "a", "metadata": {"ids": [{"id": ${number}}]}}`);
    expectProblem(byRest, 'invalid_input');
    expect(byRest.body.errors).toEqual(rounded);
    const variables = `{"input": {"title": "a", "metadata": {"id": ${number}}}}`;
    const byVariable = await sent('/graphql', `{"query": ${JSON.stringify(createTask)}, "variables": ${variables}}`);
    expectGraphqlError(byVariable, 'invalid_input');
    expect(byVariable.body.errors[0].extensions.errors).toEqual(rounded);
    const document = `mutation { createTask(input: { title: "a", metadata: { id: ${number} } }) { task { id } } }`;
    const byLiteral = await client.graphql(document);
    expectGraphqlError(byLiteral, 'invalid_input');
    expect(byLiteral.errors[0].extensions.errors).toEqual(rounded);
  });

  test('is refused in a cell, too', async () => {
    const mutation = 'mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { id } } }';
    const answer = await client.graphql(mutation, { csv: 'title,metadata\na,"{""id"": 9007199254740993}"\n' });
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.errors[0].extensions.errors[0].message).toContain('send it as a text');
  });

  test('that is exact comes back as it was sent, as do fractions and texts', async () => {
    const metadata = {
      most: 9_007_199_254_740_991,
      least: -9_007_199_254_740_991,
      text: '9007199254740993',
      part: 0.1,
    };
    const { body, status } = await client.post('/v1/tasks', { title: 'a', metadata });
    expect([status, body.metadata]).toEqual([201, metadata]);
  });
});

describe('a number that is too large', () => {
  test.each(['2147483648', '99999999999', '99999999999999999999'])('such as %s is told the maximum', async (number) => {
    const expected = [{ path: '/priority', message: expect.stringMatching(/^must be at most \d+; it is \d+$/) }];
    const byRest = await sent('/v1/tasks', `{"title": "a", "priority": ${number}}`);
    expect(byRest.body.errors).toEqual(expected);
    const variables = `{"input": {"title": "a", "priority": ${number}}}`;
    const byVariable = await sent('/graphql', `{"query": ${JSON.stringify(createTask)}, "variables": ${variables}}`);
    expect(byVariable.body.errors[0].extensions.errors).toEqual(byRest.body.errors);
    const byLiteral = await client.graphql(
      `mutation { createTask(input: { title: "a", priority: ${number} }) { task { id } } }`,
    );
    expect(byLiteral.errors[0].extensions.errors).toEqual(byRest.body.errors);
    const byCell = await client.graphql('mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { id } } }', {
      csv: `title,priority\na,${number}\n`,
    });
    expect(byCell.errors[0].extensions.errors[0].message).toContain(byRest.body.errors[0].message);
  });

  test('where only the type sets a limit, that one is told', async () => {
    const answer = await client.graphql('{ tasks(first: 3000000000) { edges { cursor } } }');
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.errors[0].extensions.errors).toEqual([
      { path: '/first', message: 'must be at most 2147483647; it is 3000000000' },
    ]);
  });
});

describe('a text of one line', () => {
  test.each(['\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029'])('has no %j', async (end) => {
    const text = `a${end}b`;
    const told = (path: string) => [{ path, message: 'must be in one line; it contains a line break' }];
    const byRest = await client.post('/v1/tasks', { title: text, external_id: text });
    expectProblem(byRest, 'invalid_input');
    expect(byRest.body.errors).toEqual([...told('/title'), ...told('/external_id')]);
    const byGraphql = await client.graphql(createTask, { input: { title: text } });
    expect(byGraphql.errors[0].extensions.errors).toEqual(told('/title'));
    const signUp = { email: 'lines@example.com', password: 'a long password for lines', first_name: text };
    expectProblem(await world.client().post('/v1/register', signUp), 'invalid_input');
    const details = await client.post('/v1/tasks', { title: 'a', details: text });
    expect([details.status, details.body.details]).toEqual([201, text]);
  });

  test.each(['\u200b', '\ufe0f', '\u3164', '\u2800'])('shows something: %j alone is refused', async (text) => {
    const answer = await client.post('/v1/tasks', { title: text });
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toEqual([{ path: '/title', message: 'must have a visible character' }]);
    const byProfile = await client.graphql(
      'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { user { id } } }',
      { id: owner.user.id, input: { firstName: text } },
    );
    expect(byProfile.errors[0].extensions.errors).toEqual([
      { path: '/firstName', message: 'must have a visible character' },
    ]);
  });
});
