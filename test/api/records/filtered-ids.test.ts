import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { holdsIds, operatorsOf } from '#entities/kit/read/operators.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import { filterableFields } from '#entities/kit/read/where.ts';
import { sampleOf } from '../../kit/depth.ts';
import { expectProblem, fieldProblems } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;
let stranger: TestClient;
let displayId: string;
/** Paths of the printed description of the API. */
let paths: Readonly<Record<string, { readonly get?: object }>>;

beforeAll(async () => {
  world = await openWorld();
  client = await signedIn(world, await buildPerson(world));
  stranger = await signedIn(world, await buildPerson(world));
  paths = (await client.get('/openapi.json')).body.paths;
  displayId = (await client.post('/v1/tasks', { title: 'shown' })).body.display_id;
});
afterAll(() => world.close());

const notAnId = 'is not an id; it is "x"';
const inGraphql = (where: object) =>
  client.graphql('query ($where: TaskWhere) { tasks(where: $where) { totalCount } }', { where });

/** Every filter by an id, of every kind: its field, and the operators that compare it with whole values. */
const filters = registry.modules.filter(isExposed).flatMap((module) =>
  filterableFields(module)
    .filter((field) => holdsIds(module, field))
    .map((field) => ({ module, field, operators: operatorsOf(module, field).map(({ name }) => name) })),
);

describe('a filter by what is no id', () => {
  test.each(
    sampleOf('filters by ids', filters, { by: [({ module }) => module.kind] }).map((one) => ({
      ...one,
      name: `${one.module.kind}.${one.field}`,
    })),
  )('is refused by $name with every operator, over REST and GraphQL', async ({ module, field, operators }) => {
    const path = `/v1/${module.table.replaceAll('_', '-')}`;
    const isListed = paths[path]?.get !== undefined;
    const compared = (['eq', 'ne', 'in', 'notIn'] as const).filter((operator) => operators.includes(operator));
    expect(compared).toHaveLength(4);
    for (const operator of compared) {
      const isList = operator === 'in' || operator === 'notIn';
      const place = isList ? '/1' : '';
      const operand = isList ? [newId(), 'x'] : 'x';
      const { typeName } = module;
      const answer = await client.graphql(
        `query ($where: ${typeName}Where) { ${pluralOf(module)}(where: $where) { totalCount } }`,
        { where: { [field]: { [operator]: operand } } },
      );
      expectGraphqlError(answer, 'invalid_input', operator);
      expect(fieldProblems(answer)).toEqual([{ path: `/where/${field}/${operator}${place}`, message: notAnId }]);
      const name = `${snakeCase(field)}[${snakeCase(operator)}]`;
      const listed = isListed ? await client.get(`${path}?${name}=${String(operand)}`) : undefined;
      if (listed) expectProblem(listed, 'invalid_input', name);
      if (listed) expect(fieldProblems(listed)).toEqual([{ path: `/${name}${place}`, message: notAnId }]);
    }
    const plain = isListed ? await client.get(`${path}?${snakeCase(field)}=x`) : undefined;
    if (plain) expect(fieldProblems(plain)).toEqual([{ path: `/${snakeCase(field)}`, message: notAnId }]);
  });

  test('is refused by lists of linked records and by aggregates, all mistakes at once', async () => {
    expect(fieldProblems(await client.get('/v1/tasks?group_id=x'))).toEqual([{ path: '/group_id', message: notAnId }]);
    for (const path of ['/v1/tasks', '/v1/tasks/aggregates']) {
      const answer = await client.get(`${path}?parent_id=x&assignee_id[ne]=x`);
      expectProblem(answer, 'invalid_input');
      expect(fieldProblems(answer)).toEqual(
        expect.arrayContaining([
          { path: '/parent_id', message: notAnId },
          { path: '/assignee_id[ne]', message: notAnId },
        ]),
      );
    }
    const where = { parent: { id: { eq: 'x' } }, or: [{ not: { parentId: { in: ['x'] } } }] };
    const paths = ['/where/or/0/not/parentId/in/0', '/where/parent/id/eq'];
    expect(fieldProblems(await inGraphql(where))).toEqual(paths.map((path) => ({ path, message: notAnId })));
    const counted = await client.graphql('{ taskAggregates(where: { parentId: { eq: "x" } }) { count } }');
    expect(fieldProblems(counted)).toEqual([{ path: '/where/parentId/eq', message: notAnId }]);
  });

  test('is refused by exports and saved views', async () => {
    const filter = { parent_id: { ne: 'x' }, or: [{ assigneeId: { in: [newId(), 'x'] } }] };
    const exported = await client.post('/v1/exports', { record_kind: 'task', filters: filter });
    const view = await client.post('/v1/saved-views', { name: newId(), record_kind: 'task', filter });
    for (const [answer, name] of [
      [exported, 'filters'],
      [view, 'filter'],
    ] as const) {
      expectProblem(answer, 'invalid_input');
      expect(fieldProblems(answer)).toEqual([
        { path: `/${name}/parent_id/ne`, message: notAnId },
        { path: `/${name}/or/0/assigneeId/in/1`, message: notAnId },
      ]);
    }
  });

  test('has the words of bodies, and for a display id the way to the id where the records have one', async () => {
    const inBody = await client.post('/v1/tasks', { title: 'below', parent_id: displayId });
    const [problem] = inBody.body.errors;
    expect(problem.message).toContain('the filter "display_id" of the list (in GraphQL "displayId") finds the record');
    expect(fieldProblems(await client.get(`/v1/tasks?parent_id=${displayId}`))).toEqual([problem]);
    expect(fieldProblems(await inGraphql({ parentId: { eq: displayId } }))).toMatchObject([
      { message: problem.message },
    ]);
    const exported = await client.post('/v1/exports', { record_kind: 'task', filters: { id: { eq: displayId } } });
    expect(fieldProblems(exported)).toEqual([{ path: '/filters/id/eq', message: problem.message }]);
    // People have no display ids.
    const message = `is not an id; it is "${displayId}"`;
    expect(fieldProblems(await client.get(`/v1/tasks?assignee_id=${displayId}`))).toEqual([
      { path: '/assignee_id', message },
    ]);
    expect((await client.get(`/v1/tasks?display_id=${displayId}`)).body.data).toHaveLength(1);
  });
});

test('a filter by a well-formed id matches nothing, whether its record does not exist or is not visible', async () => {
  const { body: theirs } = await stranger.post('/v1/tasks', { title: 'theirs' });
  for (const id of [theirs.id, newId()]) {
    const { status, body } = await client.get(`/v1/tasks?parent_id=${id}&count=true`);
    expect([status, body.total_count]).toEqual([200, 0]);
    expect((await client.get(`/v1/tasks?id[ne]=${id}&display_id=${displayId}`)).body.data).toHaveLength(1);
    expect((await inGraphql({ parentId: { in: [id] } })).data).toEqual({ tasks: { totalCount: 0 } });
    expect((await client.get(`/v1/tasks/aggregates?parent_id=${id}`)).status).toBe(200);
    expect((await client.post('/v1/exports', { record_kind: 'task', filters: { parent_id: { eq: id } } })).status).toBe(
      201,
    );
  }
});
