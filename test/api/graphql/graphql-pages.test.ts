import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;
/** All organizations of the person, oldest first. */
let all: string[];
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  const person = await buildPerson(world);
  client = await signedIn(world, person);
  const made = await client.graphql(
    `mutation { ${Array.from({ length: 29 }, (_, n) => `o${n}: createOrganization(input: { name: "page ${n} of 29" }) { organization { id } }`).join(' ')} }`,
  );
  all = [
    person.organization.id,
    ...Object.values<{ organization: { id: string } }>(made.data).map((payload) => payload.organization.id),
  ];
  // Somebody else's, of which nothing may be seen.
  await buildPerson(world);
});
afterAll(() => world.close());

interface Page {
  readonly ids: string[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** How often the organizations were asked for since `statements` was emptied. */
const asked = () => statements.filter((text) => /\bfrom "?organizations\b/.test(text)).length;

const query = (list = 'organizations') => `query ($first: Int, $after: String) { ${list}(first: $first, after: $after) {
  edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }`;

async function page(variables: object): Promise<Page> {
  const answer = await client.graphql(query(), variables);
  expect(answer.errors).toBeUndefined();
  const { edges, pageInfo } = answer.data.organizations;
  expect(pageInfo.endCursor).toBe(edges.at(-1)?.cursor ?? null);
  return { ids: edges.map((edge: { node: { id: string } }) => edge.node.id), pageInfo };
}

describe('a list', () => {
  test('has twenty-five records unless something else is asked for, oldest first', async () => {
    expect(await page({})).toMatchObject({ ids: all.slice(0, 25), pageInfo: { hasNextPage: true } });
    expect(await page({ first: null, after: null })).toMatchObject({ ids: all.slice(0, 25) });
    expect(await page({ first: 100 })).toMatchObject({ ids: all, pageInfo: { hasNextPage: false } });
    expect(await page({ first: 30 })).toMatchObject({ ids: all, pageInfo: { hasNextPage: false } });
    expect(await page({ first: 29 })).toMatchObject({ pageInfo: { hasNextPage: true } });
    expect(await page({ first: 0 })).toEqual({ ids: [], pageInfo: { hasNextPage: true, endCursor: null } });
  });

  test.each([1, 7, 10, 29, 30])('read in pages of %i is whole', async (first) => {
    const seen: string[] = [];
    let after: string | null = null;
    let hasNextPage = true;
    while (hasNextPage) {
      const { ids, pageInfo }: Page = await page({ first, after });
      seen.push(...ids);
      after = pageInfo.endCursor;
      ({ hasNextPage } = pageInfo);
    }
    expect(seen).toEqual(all);
  });

  test('ends behind the last record', async () => {
    const { pageInfo } = await page({ first: 30 });
    expect(await page({ after: pageInfo.endCursor })).toEqual({
      ids: [],
      pageInfo: { hasNextPage: false, endCursor: null },
    });
  });

  test.each([-1, -2_147_483_648, 101, 2_147_483_647])('of %i records is refused', async (first) => {
    expectGraphqlError(await client.graphql(query(), { first }), 'limit_exceeded');
  });

  test('has as many records as maxresultlimit says, at most', async () => {
    shows('server.maxresultlimit');
    await world.reconfigure({ CORE_SERVER_MAXRESULTLIMIT: '7' });
    expect(await page({})).toMatchObject({ ids: all.slice(0, 7), pageInfo: { hasNextPage: true } });
    expect(await page({ first: 7 })).toMatchObject({ ids: all.slice(0, 7) });
    expectGraphqlError(await client.graphql(query(), { first: 8 }), 'limit_exceeded');
    await world.reconfigure({ CORE_SERVER_MAXRESULTLIMIT: undefined });
    expect((await page({ first: 100 })).ids).toHaveLength(30);
  });
});

describe('a cursor', () => {
  const encoded = (text: string) => Buffer.from(text).toString('base64url');

  test('that no page returned is refused, and none of it reaches a statement', async () => {
    statements.length = 0;
    const { pageInfo } = await page({ first: 3 });
    expect(asked()).toBe(1);
    const cursor = pageInfo.endCursor ?? '';
    const ofUsers = (await client.graphql(query('users'))).data.users.edges[0].cursor as string;
    const forged = [
      '',
      ' ',
      'x',
      'null',
      '%',
      '\u{1F600}',
      cursor.slice(1),
      cursor.slice(0, -1),
      cursor.slice(0, -8),
      `${cursor}AAAA`,
      cursor.toLowerCase(),
      ofUsers,
      encoded(''),
      encoded('organization:'),
      encoded('organization'),
      encoded(`organization:${newId()}:`),
      encoded(`organization:${newId()}x`),
      encoded(`organization:${newId().toLowerCase()}`),
      encoded(`organization:${newId()}' or '1'='1`),
      encoded("organization:' union select password_hash from users --"),
      encoded(`Organization:${newId()}`),
      encoded(newId()),
      encoded('organization:\0'),
      encoded('organization:{"ne":null}'),
      'A'.repeat(100_000),
    ];
    statements.length = 0;
    for (const after of forged)
      expectGraphqlError(await client.graphql(query(), { after }), 'invalid_cursor', after.slice(0, 80));
    expect(asked()).toBe(0);
  });

  test('of a record that is none, or of somebody else, is a place in the order and shows nothing', async () => {
    const other = await buildPerson(world);
    const { pageInfo } = await page({ first: 1 });
    const [order] = JSON.parse(Buffer.from(pageInfo.endCursor ?? '', 'base64url').toString()) as [string];
    const at = (id: string) => encoded(JSON.stringify([order, id]));
    expect((await page({ after: at(other.organization.id) })).ids).toEqual([]);
    expect((await page({ first: 100, after: at('0'.repeat(26)) })).ids).toEqual(all);
  });
});

test.each(['x', '', 'null', '*', "' or '1'='1", '01ARZ3NDEKTSV4RRFFQ69G5FA', '\u{1F600}'])(
  'a look-up by %j finds nothing and asks nothing',
  async (id) => {
    statements.length = 0;
    expectGraphqlError(await client.graphql('query ($id: ID!) { organization(id: $id) { id } }', { id }), 'not_found');
    expect(asked()).toBe(0);
  },
);
