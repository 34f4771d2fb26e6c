import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, organization } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let members: Person[];
let client: TestClient;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  owner = await buildPerson(world, { email: 'owner@example.com' });
  members = [];
  for (const [index, role] of (['admin', 'member', 'member', 'auditor'] as const).entries())
    members.push(await buildPerson(world, { organization: owner.organization, role, email: `m${index}@example.com` }));
  client = await signedIn(world, owner);
  // Somebody else's, of which nothing may be seen.
  await buildPerson(world, { email: 'foreign@example.com' });
});
afterAll(() => world.close());

/** The data of an operation that must succeed. */
async function ask(query: string, variables: object = {}) {
  const answer = await client.graphql(query, variables);
  expect(answer.errors).toBeUndefined();
  return answer.data;
}

/** Statements that read records, of the operation. */
async function statementsOf(query: string, variables: object = {}): Promise<string[]> {
  statements.length = 0;
  await ask(query, variables);
  return statements.filter((text) => text.includes('row_to_json'));
}

describe('a nested question', () => {
  const nested = `query ($people: Int) { organization(id: "ID") { name memberships(first: $people) {
    totalCount edges { node { role user { email memberships { edges { node { organization { name } } } } } } } } } }`;
  const question = () => nested.replace('ID', owner.organization.id);

  test('is answered whole', async () => {
    const { organization } = await ask(question());
    expect(organization).toMatchObject({ name: owner.organization.name, memberships: { totalCount: 5 } });
    const people = organization.memberships.edges.map((edge: { node: object }) => edge.node);
    expect(people[0]).toEqual({
      role: 'OWNER',
      user: {
        email: 'owner@example.com',
        memberships: { edges: [{ node: { organization: { name: owner.organization.name } } }] },
      },
    });
    expect(people.map(({ role }: { role: string }) => role)).toEqual(['OWNER', 'ADMIN', 'MEMBER', 'MEMBER', 'AUDITOR']);
  });

  test('is one statement, for one record or many', async () => {
    expect(await statementsOf(question(), { people: 1 })).toHaveLength(1);
    expect(await statementsOf(question(), { people: 100 })).toHaveLength(1);
  });

  test('keeps the shape that was asked for: names, fragments, directives, __typename', async () => {
    const { o } = await ask(
      `query ($no: Boolean = false) { o: organization(id: "${owner.organization.id}") { __typename called: name ...M
        left: memberships(last: 1) { edges { cursor } } description @include(if: $no) } }
       fragment M on Organization { people: memberships(first: 1) { __typename pageInfo { __typename more: hasNextPage }
        edges { __typename node { ... on Membership { role } } node { user { email } } } } }`,
    );
    expect(o).toEqual({
      __typename: 'Organization',
      called: owner.organization.name,
      people: {
        __typename: 'MembershipConnection',
        pageInfo: { __typename: 'PageInfo', more: true },
        edges: [{ __typename: 'MembershipEdge', node: { role: 'OWNER', user: { email: 'owner@example.com' } } }],
      },
      left: { edges: [{ cursor: expect.any(String) }] },
    });
  });

  test('shows nothing behind a record that the caller may not see', async () => {
    const stranger = await buildPerson(world);
    const two = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const { memberships } = (
      await (await signedIn(world, stranger)).graphql('{ memberships { edges { node { user { email } } } } }')
    ).data;
    expect(memberships.edges).toEqual([{ node: { user: { email: stranger.user.email } } }]);
    const { data } = await (
      await signedIn(world, two)
    ).graphql('{ users(first: 50) { totalCount edges { node { email } } } }');
    expect(data.users.totalCount).toBe(6);
    expect(JSON.stringify(data)).not.toContain('foreign@example.com');
  });
});

describe('where', () => {
  const emails = async (where: string): Promise<string[]> => {
    const { users } = await ask(`{ users(where: ${where}) { totalCount edges { node { email } } } }`);
    const found = users.edges.map(({ node }: { node: { email: string } }) => node.email).toSorted();
    expect(users.totalCount).toBe(found.length);
    return found;
  };
  const known = ['m0@example.com', 'm1@example.com', 'm2@example.com', 'm3@example.com', 'owner@example.com'];

  test.each<[string, string[]]>([
    ['{ email: { eq: "m1@example.com" } }', ['m1@example.com']],
    ['{ email: { in: ["m1@example.com", "foreign@example.com"] } }', ['m1@example.com']],
    ['{ email: { in: [] } }', []],
    ['{ email: { startsWith: "m" } }', known.slice(0, 4)],
    ['{ email: { contains: "2@" } }', ['m2@example.com']],
    ['{ email: { eq: " M1@Example.com " } }', ['m1@example.com']],
    ['{ email: { in: ["M1@EXAMPLE.COM", "FOREIGN@example.com"] } }', ['m1@example.com']],
    ['{ email: { startsWith: "M2" } }', ['m2@example.com']],
    ['{ email: { contains: "2@EX" } }', ['m2@example.com']],
    ['{ email: { gt: "M1@example.com", ne: "M2@example.com", lte: "M3@example.com" } }', ['m3@example.com']],
    ['{ memberships: { user: { email: { eq: "M0@example.com" } } } }', ['m0@example.com']],
    ['{ email: { contains: "%" } }', []],
    ['{ email: { gt: "m1@example.com", lte: "m3@example.com" } }', ['m2@example.com', 'm3@example.com']],
    [
      '{ or: [{ email: { eq: "m0@example.com" } }, { email: { eq: "m3@example.com" } }] }',
      ['m0@example.com', 'm3@example.com'],
    ],
    ['{ or: [] }', []],
    [
      '{ and: [{ email: { startsWith: "m" } }, { not: { email: { in: ["m0@example.com", "m1@example.com", "m2@example.com"] } } }] }',
      ['m3@example.com'],
    ],
    ['{ memberships: { role: { eq: ADMIN } } }', ['m0@example.com']],
    ['{ memberships: { role: { in: [AUDITOR, OWNER] } } }', ['m3@example.com', 'owner@example.com']],
    ['{ memberships: { organization: { name: { eq: "no such organization" } } } }', []],
    ['{ createdAt: { gt: "2100-01-01T00:00:00Z" } }', []],
  ])('%s', async (where, expected) => {
    const found = await emails(`{ and: [{ email: { in: ${JSON.stringify(known)} } }, ${where}] }`);
    expect(found).toEqual(expected);
  });

  test.each([
    ['{ email: { contains: " " } }', 0],
    ['{ email: { startsWith: " \\t" } }', 0],
    ['{ email: { contains: "OWNER@" } }', 1],
    ['{ email: { eq: " Owner@Example.com " } }', 1],
  ])('compares parts of addresses as they are, except for case: %s', async (where, count) => {
    expect((await ask(`{ users(where: ${where}) { totalCount } }`)).users.totalCount).toBe(count);
  });

  test('does not look into what the caller may not see', async () => {
    expect(await emails('{ email: { eq: "foreign@example.com" } }')).toEqual([]);
    expect(await emails('{ memberships: { user: { email: { eq: "foreign@example.com" } } } }')).toEqual([]);
    // A secret is no field to ask about.
    expectGraphqlError(
      await client.graphql('{ users(where: { passwordHash: { contains: "a" } }) { totalCount } }'),
      'invalid_input',
    );
  });

  test.each<[string, object, 'invalid_input' | 'limit_exceeded']>([
    ['nothing to compare with', { email: { eq: null } }, 'invalid_input'],
    ['nothing at all', { email: null }, 'invalid_input'],
    ['what is no instant', { createdAt: { gt: 'yesterday' } }, 'invalid_input'],
    ['a day that does not exist', { createdAt: { gt: '2026-02-31T00:00:00Z' } }, 'invalid_input'],
    ['branches without end', { or: Array.from({ length: 500 }, () => ({})) }, 'limit_exceeded'],
    [
      'comparisons without end',
      { or: Array.from({ length: 100 }, () => ({ email: { eq: '', ne: '', gt: '', gte: '' } })) },
      'limit_exceeded',
    ],
    [
      'a list without end',
      { email: { in: Array.from({ length: 1_001 }, (_, index) => `${index}`) } },
      'limit_exceeded',
    ],
    ['depth without end', Array.from({ length: 8 }).reduce<object>((not) => ({ not }), {}), 'limit_exceeded'],
  ])('refuses %s', async (_name, where, code) => {
    expectGraphqlError(
      await client.graphql('query ($where: UserWhere) { users(where: $where) { totalCount } }', { where }),
      code,
    );
  });
});

test('whole numbers that Int does not reach are numbers in answers, histories and filters', async () => {
  const sizeBytes = 3_000_000_000;
  const { createFile } = await ask(
    `mutation { createFile(input: { content: "${await uploadBy(world, owner, { content: '' })}" }) { file { id sizeBytes } } }`,
  );
  expect(createFile.file.sizeBytes).toBe(0);
  // Nobody can say so by hand.
  await asOwner(world, 'update files set size_bytes = $1', [sizeBytes]);
  await asOwner(world, 'update stored_objects o set size_bytes = f.size_bytes from files f where f.content = o.id');
  const query = `query ($where: FileWhere) {
    files(where: $where, orderBy: [{ field: SIZE_BYTES }]) { edges { node { sizeBytes } } }
    fileHistories { edges { node { sizeBytes } } } }`;
  const { files, fileHistories } = await ask(query, { where: { sizeBytes: { eq: sizeBytes } } });
  expect(files.edges).toEqual([{ node: { sizeBytes } }]);
  expect(fileHistories.edges).toEqual([{ node: { sizeBytes: 0 } }]);
  const count = async (where: string) => (await ask(`{ files(where: { sizeBytes: ${where} }) { totalCount } }`)).files;
  expect(await count('{ gt: 2999999999, in: [3000000000, 1] }')).toEqual({ totalCount: 1 });
  expect(await count('{ lt: 9007199254740991, ne: 3000000000 }')).toEqual({ totalCount: 0 });
  for (const operand of [9_007_199_254_740_992, 1.5, '3000000000'])
    expectGraphqlError(await client.graphql(query, { where: { sizeBytes: { eq: operand } } }), 'invalid_input');
});

describe('orderBy', () => {
  const query = `query ($first: Int, $last: Int, $after: String, $before: String, $orderBy: [UserOrder!]) {
    users(first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy, where: { email: { contains: "@example.com" }, memberships: { role: { ne: OWNER } } }) {
      edges { cursor node { email } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const pageOf = async (variables: object) => {
    const { users } = await ask(query, variables);
    return { emails: users.edges.map(({ node }: { node: { email: string } }) => node.email), info: users.pageInfo };
  };

  test.each([
    [[{ field: 'DISPLAY_NAME' }]],
    [[{ field: 'DISPLAY_NAME', direction: 'DESC' }]],
    [[{ field: 'CREATED_AT', direction: 'DESC' }, { field: 'DISPLAY_NAME' }]],
    [[]],
  ])('%j, page by page, forwards and backwards, is the whole list', async (orderBy) => {
    const { emails: whole } = await pageOf({ orderBy, first: 100 });
    expect(whole.length).toBeGreaterThan(3);
    const forwards: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { emails, info } = await pageOf({ orderBy, first: 2, after });
      expect(info.hasPreviousPage).toBe(after !== null);
      forwards.push(...emails);
      ({ endCursor: after, hasNextPage: more } = info);
    }
    expect(forwards).toEqual(whole);
    const backwards: string[] = [];
    for (let before: string | null = null, more = true; more;) {
      const { emails, info } = await pageOf({ orderBy, last: 2, before });
      expect(info.hasNextPage).toBe(before !== null);
      backwards.unshift(...emails);
      ({ startCursor: before, hasPreviousPage: more } = info);
    }
    expect(backwards).toEqual(whole);
  });

  test('a cursor of another order is refused', async () => {
    const { info } = await pageOf({ orderBy: [{ field: 'DISPLAY_NAME' }], first: 1 });
    expectGraphqlError(await client.graphql(query, { after: info.endCursor, first: 1 }), 'invalid_cursor');
  });

  test('first and last together are refused', async () => {
    expectGraphqlError(await client.graphql(query, { first: 1, last: 1 }), 'invalid_input');
  });
});

test('lists in lists may bring a hundred thousand records, were all of them full', async () => {
  const nested = (size: number) =>
    `{ memberships(first: 100) { edges { node { user { memberships(first: 100) { edges { node { user { memberships(first: ${size}) { edges { cursor } } } } } } } } } } }`;
  await ask(nested(8));
  expectGraphqlError(await client.graphql(nested(10)), 'limit_exceeded');
});

test('counts in lists cost as much as lists of the largest page', async () => {
  const nested = (size: number) =>
    `{ memberships(first: 50) { edges { node { user { memberships(first: ${size}) { edges { node { user { memberships(first: 1) { totalCount } } } } } } } } } }`;
  // 50 + 950 + 950 records and 950 counts of up to 100.
  await ask(nested(19));
  const refused = await client.graphql(nested(20));
  expectGraphqlError(refused, 'limit_exceeded');
  expect(refused.errors[0].message).toContain('return or count more than 100000 records');
});

test('filters count together, however often one variable stands in the operation', async () => {
  const where = { or: Array.from({ length: 90 }, () => ({})) };
  const times = (count: number) =>
    `query ($where: UserWhere) { ${Array.from({ length: count }, (_, n) => `u${n}: users(where: $where) { totalCount }`).join(' ')} }`;
  await ask(times(5), { where });
  expectGraphqlError(await client.graphql(times(6), { where }), 'limit_exceeded');
});

test('an answer that is too large stays in the database', async () => {
  const person = await buildPerson(world);
  await world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, async ({ data }) => {
    for (let n = 0; n < 99; n++) {
      const { id: organizationId } = await data.create(organization, { name: `large ${n} of 99` });
      await data.create(membership, { organizationId, userId: person.user.id, role: 'owner' });
    }
  });
  // As a migration would: without a change, so without history.
  await asOwner(world, `update organizations set description = repeat('x', 2000)`);
  const visitor = await signedIn(world, person);
  const fields = (count: number) => Array.from({ length: count }, (_, n) => `d${n}: description`).join(' ');
  const query = (count: number) => `{ organizations(first: 100) { edges { node { ${fields(count)} } } } }`;
  const { data } = await visitor.graphql(query(20));
  expect(data.organizations.edges).toHaveLength(100);
  expectGraphqlError(await visitor.graphql(query(90)), 'limit_exceeded');
});

describe('complexitylimit', () => {
  test('is the number of fields one operation selects, however they are nested', async () => {
    shows('server.complexitylimit');
    const fields = (count: number) =>
      `{ ${Array.from({ length: count }, (_, n) => `o${n}: organizations { totalCount }`).join(' ')} }`;
    await world.reconfigure({ CORE_SERVER_COMPLEXITYLIMIT: '10' });
    await ask(fields(10));
    expectGraphqlError(await client.graphql(fields(11)), 'limit_exceeded');
    const doubled = Array.from(
      { length: 12 },
      (_, n) =>
        `fragment f${n} on User { ${n < 11 ? `a: memberships { edges { node { user { ...f${n + 1} } } } } b: memberships { edges { node { user { ...f${n + 1} } } } }` : 'id'} }`,
    );
    expectGraphqlError(await client.graphql(`{ self { ...f0 } } ${doubled.join(' ')}`), 'limit_exceeded');
    await world.reconfigure({ CORE_SERVER_COMPLEXITYLIMIT: undefined });
    await ask(fields(11));
  });
});
