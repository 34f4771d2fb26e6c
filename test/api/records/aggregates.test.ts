import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { organizationPrice } from '#entities/index.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

const createTasks = (inputs: readonly object[]) =>
  client.graphql('mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id } } }', {
    inputs,
  });

describe('aggregates of a list', () => {
  test('count and add up what the filter finds, in groups, in one statement', async () => {
    await createTasks([
      { title: 'a', status: 'OPEN', priority: 10 },
      { title: 'b', status: 'OPEN', priority: 25 },
      { title: 'c', status: 'COMPLETED', priority: 7, assigneeId: owner.user.id },
      { title: 'd', status: 'COMPLETED', priority: 90 },
      { title: 'e', status: 'OPEN', priority: 0 },
    ]);
    statements.length = 0;
    const { data } = await client.graphql(`{
      taskAggregates(where: { priority: { gt: 0 } }, groupBy: [STATUS]) { keys { status assigneeId } n: count
        numbers { p: priority { sum min max avg } } } }`);
    expect(data.taskAggregates).toEqual([
      {
        keys: { status: 'COMPLETED', assigneeId: null },
        n: 2,
        numbers: { p: { sum: '97', min: '7', max: '90', avg: '48.5' } },
      },
      {
        keys: { status: 'OPEN', assigneeId: null },
        n: 2,
        numbers: { p: { sum: '35', min: '10', max: '25', avg: '17.5' } },
      },
    ]);
    expect(statements.filter((text) => text.includes('json_agg'))).toHaveLength(1);
    const rest = await client.get('/v1/tasks/aggregates?group_by=status,created_at_day&numbers=priority&status=open');
    const day = world.clock.now().toISOString().slice(0, 10);
    expect(rest.body).toEqual({
      data: [
        {
          keys: { status: 'open', created_at_day: day },
          count: 3,
          numbers: { priority: { sum: '35', min: '0', max: '25', avg: '11.666667' } },
        },
      ],
    });
    const byPerson = await client.get('/v1/tasks/aggregates?group_by=assignee_id&first=1');
    expect(byPerson.body.data).toEqual([{ keys: { assignee_id: null }, count: 4, numbers: {} }]);
    const whole = await client.get('/v1/tasks/aggregates?status=wont_do&numbers=priority');
    const none = { sum: null, min: null, max: null, avg: null };
    expect(whole.body.data).toEqual([{ keys: {}, count: 0, numbers: { priority: none } }]);
  });

  test('have what the caller may view, and nothing of others', async () => {
    const person = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const theirs = await signedIn(world, person);
    const stranger = await signedIn(world, await buildPerson(world));
    await createTasks([{ title: 'hidden' }, { title: 'shown', assigneeId: person.user.id }]);
    const counts = async (by: TestClient) =>
      (await by.get('/v1/tasks/aggregates')).body.data.map(({ count }: { count: number }) => count);
    expect(await counts(client)).toEqual([2]);
    expect(await counts(theirs)).toEqual([1]);
    expect(await counts(stranger)).toEqual([0]);
    expectProblem(await world.client().get('/v1/tasks/aggregates'), 'unauthenticated');
  });

  test('do not add up amounts of several currencies', async () => {
    await asSystem(world, owner.organization.id, async (data) => {
      for (const [amount, amountCurrency] of [
        ['12.50', 'eur'],
        ['7.5', 'eur'],
        ['100', 'usd'],
      ] as const)
        await data.create(organizationPrice, { amount, amountCurrency });
    });
    const mixed = await client.get('/v1/organization-prices/aggregates?numbers=amount');
    const none = { sum: null, min: null, max: null, avg: null };
    expect(mixed.body.data).toEqual([{ keys: {}, count: 3, numbers: { amount: none } }]);
    const { body } = await client.get('/v1/organization-prices/aggregates?numbers=amount&group_by=amount_currency');
    expect(
      body.data.map(({ keys, numbers }: { keys: object; numbers: { amount: { sum: string } } }) => [
        keys,
        numbers.amount.sum,
      ]),
    ).toEqual([
      [{ amount_currency: 'eur' }, '20'],
      [{ amount_currency: 'usd' }, '100'],
    ]);
  });

  test('refuse what is not to be grouped or added up, and what costs too much', async () => {
    for (const query of ['group_by=title', 'numbers=title', 'group_by=status,', 'title[like]=x'])
      expectProblem(await client.get(`/v1/tasks/aggregates?${query}`), 'invalid_input');
    expectProblem(
      await client.get('/v1/tasks/aggregates?group_by=status,assignee_id,assigner_id,parent_id'),
      'invalid_input',
    );
    expectProblem(await client.get('/v1/tasks/aggregates?first=100000'), 'limit_exceeded');
    const many = Array.from({ length: 200 }, (_, index) => `a${index}: taskAggregates { count }`).join(' ');
    expectGraphqlError(await client.graphql(`{ ${many} }`), 'limit_exceeded');
  });
});
