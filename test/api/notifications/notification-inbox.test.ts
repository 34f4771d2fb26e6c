import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { signedIn } from '../../kit/people.ts';
import { assign, ownerAndMember } from '../../kit/events/told-people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;
const lookBack = 'CORE_SERVER_NOTIFICATIONLOOKBACKDAYS';
const consoleUrl = 'CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

async function titles(by: TestClient, query = ''): Promise<string[]> {
  const { body } = await by.get(`/v1/notifications/inbox${query}`);
  return body.data.map(({ body: text }: { body: string }) => text.replace(/^TSK-\w+: /, ''));
}

test('the inbox has all that is unread, and what was read within the look-back, also after a reload', async () => {
  shows('server.notificationlookbackdays');
  const { owner, member } = await ownerAndMember(world);
  for (const title of ['old and read', 'old and unread']) {
    await assign(owner.client, member.person, title);
    await eventually(() => isSettled(world));
    world.clock.advance(1_000);
  }
  const { body: list } = await member.client.get('/v1/notifications?order_by=created_at');
  const url = `/v1/notifications/${list.data[0].id}`;
  await member.client.mutate({ method: 'PATCH', url, payload: { is_read: true } });
  world.clock.advance(10 * dayMs);
  const [boss, reader] = [await signedIn(world, owner.person), await signedIn(world, member.person)];
  const { user } = member.person;
  await assign(boss, member.person, 'new');
  await eventually(() => isSettled(world));
  expect(await titles(reader)).toEqual(['new', 'old and unread', 'old and read']);
  await world.reconfigure({ [lookBack]: '9', [consoleUrl]: 'https://console.example.com/' });
  expect(await titles(reader)).toEqual(['new', 'old and unread']);
  const { body } = await reader.get('/v1/notifications/inbox?first=1');
  expect(body).toMatchObject({
    data: [{ user_id: user.id, link: expect.stringMatching(/^\/tasks\//), is_read: false }],
    page_info: { has_next_page: true },
    unread_count: 2,
    console_url: 'https://console.example.com',
  });
  expect(await titles(reader, `?first=1&after=${body.page_info.end_cursor}`)).toEqual(['old and unread']);
  await reader.post('/v1/notifications/read');
  expect((await reader.get('/v1/notifications/inbox')).body).toMatchObject({ data: [{}], unread_count: 0 });
  const { data } = await reader.graphql(
    '{ notificationInbox(first: 1) { unreadCount consoleUrl hasNextPage endCursor notifications { isRead link user { id } } } }',
  );
  expect(data.notificationInbox).toEqual({
    unreadCount: 0,
    consoleUrl: 'https://console.example.com',
    hasNextPage: false,
    endCursor: expect.any(String),
    notifications: [{ isRead: true, link: expect.stringMatching(/^\/tasks\//), user: { id: user.id } }],
  });
  // Only the caller's own.
  expect((await boss.get('/v1/notifications/inbox')).body).toMatchObject({ data: [], unread_count: 0 });
  await world.reconfigure({ [lookBack]: '11', [consoleUrl]: '' });
  expect(await titles(reader)).toEqual(['new', 'old and unread', 'old and read']);
  expect((await reader.get('/v1/notifications/inbox')).body.console_url).toBeNull();
});

test('every process reads the look-back anew after a reload', async () => {
  const { owner, member } = await ownerAndMember(world);
  await assign(owner.client, member.person, 'read');
  await eventually(() => isSettled(world));
  await member.client.post('/v1/notifications/read');
  const instance = await world.openInstance({ environment: { [lookBack]: '0' } });
  const reader = await signedIn(instance, member.person);
  world.clock.advance(60_000);
  expect(await titles(reader)).toEqual([]);
  expect(await titles(member.client)).toEqual(['read']);
});

test.each([
  ['first=-1', 'invalid_input'],
  ['after=nonsense', 'invalid_cursor'],
  ['first=100000', 'limit_exceeded'],
  ['is_read=true', 'invalid_input'],
] as const)('%s is refused', async (query, code) => {
  const { member } = await ownerAndMember(world);
  const answer = await member.client.get(`/v1/notifications/inbox?${query}`);
  expectProblem(answer, code);
});
