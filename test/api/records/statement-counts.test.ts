import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatementReport } from '#entities/kit/storage/transaction.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
const texts: string[] = [];
/** When statements were sent and answered. */
const sent: { readonly text: string; readonly from: number; readonly until: number }[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(texts), { statement: noteTimes }] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  for (let index = 0; index < 3; index++) {
    const { body } = await client.post('/v1/groups', { name: `group ${index}` });
    await client.post('/v1/group-memberships', { group_id: body.id, user_id: owner.user.id });
    await client.post('/v1/tasks', { title: `task ${index}` });
  }
});
afterAll(() => world.close());

function noteTimes({ text, durationMs }: StatementReport): void {
  const until = performance.now();
  sent.push({ text, from: until - durationMs, until });
}

/** The statements that were on their way at the same time as another one, which is among them. */
function sentWith(isOther: (text: string) => boolean) {
  const other = sent.find(({ text }) => isOther(text));
  return sent.filter(({ from, until }) => other !== undefined && from < other.until && until > other.from);
}

/** Messages to PostgreSQL that a request cost: the one that asks who calls, and those of its transaction with its ends. */
async function countOf(ask: () => Promise<TestAnswer>): Promise<number> {
  texts.length = 0;
  const { headers, status, body } = await ask();
  expect([status, body.errors], JSON.stringify(body)).toEqual([expect.toBeOneOf([200, 201]), undefined]);
  const line = world.logs.find(({ msg, request_id: id }) => msg === 'request' && id === headers['x-request-id']);
  return Number(line?.['statements']) + texts.filter((text) => text.includes('request_context(')).length;
}

test('a read by id', async () => {
  const { body } = await client.post('/v1/tasks', { title: 'to be read' });
  expect(await countOf(() => client.get(`/v1/tasks/${body.id}`))).toBeLessThanOrEqual(4);
});

test('a list with its count, for few and for many', async () => {
  for (const first of [1, 100])
    expect(await countOf(() => client.get(`/v1/tasks?first=${first}&count=true`))).toBeLessThanOrEqual(4);
});

test('a nested question', async () => {
  const nested = `query ($id: ID!) { organization(id: $id) { groups { totalCount edges { node { name
    groupMemberships { edges { node { role user { email } } } } } } } } }`;
  expect(await countOf(() => client.graphql(nested, { id: owner.organization.id }))).toBeLessThanOrEqual(5);
});

test('a create, with its history, event and tuples', async () => {
  expect(await countOf(() => client.post('/v1/tasks', { title: 'to be made' }))).toBeLessThanOrEqual(7);
});

test('a create does not wait for its row before it sends history, event and tuples', async () => {
  sent.length = 0;
  await client.post('/v1/tasks', { title: 'to be made' });
  const row = sent.find(({ text }) => text.startsWith('insert into "tasks"'));
  const records = sent.find(({ text }) => text.includes('write_changes'));
  expect(records?.from).toBeLessThan(row?.until ?? 0);
});

test('a sign-in reads what a session depends on in one round trip, and writes it in another', async () => {
  const person = await buildPerson(world);
  sent.length = 0;
  await signedIn(world, person);
  const begun = sentWith((text) => text.includes('"users"') && text.includes('for no key update'));
  for (const part of ['"second_factors"', 'organization_entry(', 'from sessions'])
    expect(begun.some(({ text }) => text.includes(part))).toBe(true);
  const written = sentWith((text) => text.startsWith('update users set last_seen_at'));
  for (const part of ['sign_in_failures', 'insert into "sessions"', 'write_changes('])
    expect(written.some(({ text }) => text.includes(part))).toBe(true);
});
