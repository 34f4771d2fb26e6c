import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from 'pg';
import { deriveKey, sign } from '#entities/kit/base/secrets/keys.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { EventSubscriber } from '../../kit/events/event-subscriber.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { bearerOf, type TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;
let urls: readonly string[];
let instance: Instance;
let headers: Record<string, string>;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  instance = await world.openInstance();
  urls = [(await world.listen()).url, (await instance.listen()).url];
  client = await signedIn(world, await buildPerson(world));
  headers = bearerOf(client);
});
afterAll(() => world.close());

const changes = `subscription ($after: String) { recordChanged(kinds: [TASK], after: $after) { operation id recordVersion cursor } }`;

interface Change {
  readonly operation: string;
  readonly id: string;
  readonly recordVersion: number;
  readonly cursor: string;
}

async function next(subscriber: EventSubscriber): Promise<Change> {
  const message = await subscriber.next();
  if (!message?.data) throw new Error(JSON.stringify(message));
  return message.data.recordChanged as Change;
}

function open(index: number, after?: string): Promise<EventSubscriber> {
  return EventSubscriber.open(urls[index % 2] ?? '', changes, headers, after === undefined ? {} : { after });
}

test('whoever is cut again and again gets every change once, at whichever process, while many write', async () => {
  const bearer = [world.client(), instance.client()];
  for (const one of bearer) one.bearer = client.cookies.get('access_token');
  const first = await open(0);
  let { cursor } = await next(first);
  first.close();

  const made = new Set<string>();
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let index = 0; index < 10; index++) {
      const { body } = await (bearer[(writer + index) % 2] as TestClient).post('/v1/tasks', {
        title: `${writer} ${index}`,
      });
      made.add(`CREATED ${body.id} 1`);
      await (bearer[index % 2] as TestClient).mutate({
        method: 'PATCH',
        url: `/v1/tasks/${body.id}`,
        payload: { title: 'changed' },
      });
      made.add(`UPDATED ${body.id} 2`);
    }
  });
  const told: string[] = [];
  for (let connection = 1; told.length < 120; connection++) {
    const subscriber = await open(connection, cursor);
    // The first one only says where it begins.
    await next(subscriber);
    for (let count = 0; count < 1 + ((connection * 7) % 13) && told.length < 120; count++) {
      const change = await next(subscriber);
      ({ cursor } = change);
      told.push(`${change.operation} ${change.id} ${change.recordVersion}`);
    }
    subscriber.close();
  }
  await Promise.all(writers);
  expect(told.toSorted()).toEqual([...made].toSorted());
  const last = await open(0, cursor);
  await next(last);
  const { body } = await client.post('/v1/tasks', { title: 'the last one' });
  expect((await next(last)).id).toBe(body.id);
  last.close();
});

test('transactions that commit out of order lose nothing', async () => {
  const subscriber = await open(0);
  const { cursor } = await next(subscriber);
  // It has its id before the next one, and commits after it.
  const late = new Client({ connectionString: world.databaseUrl });
  await late.connect();
  await late.query('begin');
  const { body: slow } = await client.post('/v1/tasks', { title: 'slow' });
  const insert = `insert into record_changes (id, entity_kind, entity_id, organization_id, operation, record_version)
    select $1, entity_kind, entity_id, organization_id, 'updated', 7 from record_changes where entity_id = $2`;
  await late.query(insert, ['late', slow.id]);
  const { body: quick } = await client.post('/v1/tasks', { title: 'quick' });
  expect(await next(subscriber)).toMatchObject({ id: slow.id, operation: 'CREATED' });
  const between = await next(subscriber);
  expect(between).toMatchObject({ id: quick.id, operation: 'CREATED' });
  await late.query('commit');
  await late.end();
  expect(await next(subscriber)).toMatchObject({ id: slow.id, recordVersion: 7 });
  subscriber.close();
  for (const [after, ids] of [
    [cursor, [slow.id, slow.id, quick.id]],
    [between.cursor, [slow.id]],
  ] as [string, string[]][]) {
    const again = await open(1, after);
    await next(again);
    const told: string[] = [];
    for (const _ of ids) told.push((await next(again)).id);
    expect(told.toSorted()).toEqual(ids.toSorted());
    again.close();
  }
});

test('a subscriber that is far behind gets all changes from the database', async () => {
  const subscriber = await open(0);
  const { cursor } = await next(subscriber);
  subscriber.close();
  const count = 2_300;
  await asOwner(
    world,
    `insert into record_changes (id, entity_kind, entity_id, organization_id, operation, record_version)
     select lpad(n::text, 5, '0'), 'task', t.id, t.organization_id, 'updated', n
     from generate_series(1, ${count}) n, (select id, organization_id from tasks order by id limit 1) t`,
  );
  const again = await open(1, cursor);
  await next(again);
  const versions: number[] = [];
  for (let index = 0; index < count; index++) versions.push((await next(again)).recordVersion);
  expect(versions).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  again.close();
});

test('a cursor that is too old, or of another database, says to begin anew', async () => {
  const subscriber = await open(0);
  const { cursor } = await next(subscriber);
  subscriber.close();
  const [snapshot, time, epoch] = JSON.parse(Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString());
  const key = deriveKey(world.config.current.sessions.signingkey, 'subscription-cursor');
  for (const parts of [
    [snapshot, String(BigInt(time) - 86_401_000_000n), epoch],
    [snapshot, time, '00000000-0000-0000-0000-000000000000'],
  ]) {
    const text = Buffer.from(JSON.stringify(parts)).toString('base64url');
    const after = `${text}.${sign(key, [text]).toString('base64url')}`;
    const answer = await client.request({
      method: 'POST',
      url: '/graphql',
      headers: { ...headers, accept: 'text/event-stream' },
      payload: { query: changes, variables: { after } },
    });
    expectGraphqlError(answer, 'cursor_expired');
  }
});

test('T-58: forged cursors are refused, whatever is in them', async () => {
  const subscriber = await open(0);
  const { cursor } = await next(subscriber);
  subscriber.close();
  const [text = '', signature = ''] = cursor.split('.');
  const forged = Buffer.from(JSON.stringify(["1:1:'); drop table tasks; --", '0', ''])).toString('base64url');
  for (const after of [
    `${forged}.${signature}`,
    text,
    `${text}.`,
    `${text}.${signature}.`,
    `${text}x.${signature}`,
    '.',
    '',
  ]) {
    const answer = await client.request({
      method: 'POST',
      url: '/graphql',
      headers: { ...headers, accept: 'text/event-stream' },
      payload: { query: changes, variables: { after } },
    });
    expectGraphqlError(answer, 'invalid_input', after);
  }
});

test('changes are kept for as long as a cursor counts, and then removed', async () => {
  const insert = `insert into record_changes (changed_at, id, entity_kind, entity_id, operation, record_version)
    values (now() - $1::interval, $2, 'task', 'x', 'updated', 1)`;
  for (const [age, id] of [
    ['25 hours', 'kept'],
    ['3 days', 'removed'],
  ] as const)
    await asOwner(world, insert, [age, id]);
  await asOwner(world, `select maintain_partitions(now(), interval '1 day', interval '10 years')`);
  const left = await asOwner(world, `select id from record_changes where id in ('kept', 'removed')`);
  expect(left).toEqual([{ id: 'kept' }]);
});
