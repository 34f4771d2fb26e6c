import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { requestStatements } from '../kit/request-statements.ts';
import { openWorld, type World } from '../kit/world.ts';

/** T-58: a cursor is what a page of the same list returned; anything else is refused, and none of it becomes SQL. */
let world: World;
let client: TestClient;
let stranger: TestClient;
const statements: string[] = [];
beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  client = await signedIn(world, await buildPerson(world));
  stranger = await signedIn(world, await buildPerson(world));
  for (const title of ['a', 'b', 'c']) {
    await client.post('/v1/tasks', { title });
    await stranger.post('/v1/tasks', { title: `theirs ${title}` });
  }
});
afterAll(() => world.close());

const document = `query ($after: String, $before: String) {
  tasks(first: 2, after: $after, before: $before) { edges { cursor node { title } } }
}`;
const cursorsOf = async (by: TestClient): Promise<string[]> =>
  (await by.graphql(document)).data.tasks.edges.map(({ cursor }: { cursor: string }) => cursor);

/** A cursor with other values behind the same head. */
function forged(cursor: string, change: (values: unknown[]) => unknown): string {
  const values = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  return Buffer.from(JSON.stringify(change(values))).toString('base64url');
}

test('T-58: forged, truncated, foreign and SQL-bearing cursors are refused as invalid_cursor', async () => {
  const [cursor = ''] = await cursorsOf(client);
  const hostile = [
    '',
    'x',
    '%',
    'null',
    cursor.slice(0, -3),
    cursor.slice(3),
    `${cursor}AAAA`,
    forged(cursor, () => null),
    forged(cursor, () => []),
    forged(cursor, (values) => values.slice(0, -1)),
    forged(cursor, (values) => [...values, 'more']),
    forged(cursor, ([, ...rest]) => ['AAAAAAAA', ...rest]),
    forged(cursor, ([head]) => [head, { id: 1 }]),
    forged(cursor, ([head]) => [head, 12]),
    forged(cursor, ([head]) => [head, '\u0000']),
    forged(cursor, ([head]) => [head, '\uD800']),
    Buffer.from(`["'; drop table tasks; --"]`).toString('base64url'),
    (await client.graphql('{ users(first: 1) { edges { cursor } } }')).data.users.edges[0].cursor as string,
    (await client.graphql('{ tasks(first: 1, orderBy: [{ field: TITLE }]) { edges { cursor } } }')).data.tasks.edges[0]
      .cursor as string,
  ];
  for (const given of hostile) {
    for (const variables of [{ after: given }, { before: given }]) {
      const answer = await client.graphql(document, variables);
      expect([given, answer.errors?.[0].extensions.code]).toEqual([given, 'invalid_cursor']);
    }
    const rest = await client.get(`/v1/tasks?after=${encodeURIComponent(given)}`);
    expect([given, rest.status, rest.body.code]).toEqual([given, 400, 'invalid_cursor']);
  }
});

test('T-58: SQL in the values of a cursor stays a parameter', async () => {
  const [cursor = ''] = await cursorsOf(client);
  statements.length = 0;
  await client.graphql(document, { after: cursor });
  const usual = statements.filter((text) => text.includes('tasks'));
  statements.length = 0;
  const injected = forged(cursor, ([head]) => [head, "' or true; drop table tasks; --"]);
  const answer = await client.graphql(document, { after: injected });
  expect(answer.errors?.[0].extensions.code ?? 'none').toMatch(/none|invalid_cursor/);
  const now = statements.filter((text) => text.includes('tasks'));
  if (now.length > 0) expect(now).toEqual(usual);
  expect((await client.graphql('{ tasks { totalCount } }')).data.tasks.totalCount).toBe(3);
});

test('T-58: a cursor of another organization shows none of its records', async () => {
  for (const after of await cursorsOf(stranger)) {
    const answer = await client.graphql(document, { after });
    expect(JSON.stringify(answer.body)).not.toContain('theirs');
  }
});
