import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { subscriptionLimits } from '#api/subscriptions/subscription-limits.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { SocketSubscriber } from '../../kit/events/socket-subscriber.ts';
import { bearerOf } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let url: string;
let owner: Person;
const open: SocketSubscriber[] = [];
const usual = { ...subscriptionLimits };

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  ({ url } = await world.listen());
  owner = await buildPerson(world);
});
afterEach(async () => {
  Object.assign(subscriptionLimits, usual);
  for (const socket of open) socket.close();
  await Promise.all(open.splice(0).map(({ closed }) => closed));
});
afterAll(() => world.close());

const changes = 'subscription { recordChanged(kinds: [TASK]) { id } }';

/** Connections of a person, each of which is there. */
async function connections(person: Person, count: number): Promise<SocketSubscriber[]> {
  const headers = bearerOf(await signedIn(world, person));
  const sockets = await Promise.all(Array.from({ length: count }, () => SocketSubscriber.open(url, { headers })));
  open.push(...sockets);
  return sockets;
}

/** What one more connection of a person gets, over a websocket and over server-sent events. */
async function refused(person: Person) {
  const headers = bearerOf(await signedIn(world, person));
  const socket = new SocketSubscriber(url, { headers });
  await socket.opened();
  socket.send({ type: 'connection_init' });
  const { code, reason } = await socket.closed;
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: changes }),
  });
  const { errors } = (await answer.json()) as { readonly errors: readonly [{ readonly extensions: { code: string } }] };
  return {
    websocket: { code, reason },
    events: {
      status: answer.status,
      code: errors[0].extensions.code,
      isSaidWhen: answer.headers.has('retry-after'),
    },
  };
}

test('a caller has at most 250 connections; one that ends makes room, and others are not concerned', async () => {
  expect(usual.connectionsOfCaller).toBe(250);
  const sockets = await connections(owner, usual.connectionsOfCaller);
  expect(await refused(owner)).toEqual({
    websocket: { code: 4429, reason: expect.stringContaining('You have 250 connections with subscriptions') },
    events: { status: 429, code: 'too_many_requests', isSaidWhen: false },
  });
  await connections(await buildPerson(world, { organization: owner.organization, role: 'member' }), 1);
  sockets[0]?.close();
  await sockets[0]?.closed;
  await eventually(() => connections(owner, 1));
});

test('the connections of one organization are limited, and another one still gets some', async () => {
  Object.assign(subscriptionLimits, { connectionsOfOrganization: 3 });
  const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  await connections(owner, 2);
  await connections(member, 1);
  expect(await refused(member)).toEqual({
    websocket: { code: 1013, reason: expect.stringContaining('too many connections') },
    events: { status: 503, code: 'overloaded', isSaidWhen: true },
  });
  await connections(await buildPerson(world), 1);
});

test('the connections of a process are limited; those that are there go on', async () => {
  Object.assign(subscriptionLimits, { connections: 2 });
  const [first] = await connections(owner, 2);
  const other = await buildPerson(world);
  expect(await refused(other)).toMatchObject({ websocket: { code: 1013 }, events: { code: 'overloaded' } });
  first?.subscribe('subscription { recordChanged(kinds: [TASK]) { operation } }');
  expect((await first?.next())?.data.recordChanged.operation).toBe('POSITION');
});

test('each connection has at most 100 subscriptions, and one that ends makes room', async () => {
  expect(usual.subscriptions).toBe(100);
  Object.assign(subscriptionLimits, { subscriptions: 2 });
  const [socket] = await connections(owner, 1);
  if (!socket) throw new Error('there is no connection');
  const first = socket.subscribe(changes);
  await socket.next();
  socket.subscribe(changes);
  await socket.next();
  socket.subscribe(changes);
  expect((await socket.next())?.errors?.[0]).toMatchObject({
    message: expect.stringContaining('can have 2 subscriptions'),
    extensions: { code: 'limit_exceeded' },
  });
  socket.send({ id: first, type: 'complete' });
  await eventually(async () => {
    socket.subscribe(changes);
    return (await socket.next())?.data !== undefined;
  });
});
