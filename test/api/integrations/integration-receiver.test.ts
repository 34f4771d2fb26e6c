import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineListener } from '#activities/listeners/listener.ts';
import { integration, integrationWebhook, organization, webhookEvent } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { on } from '#entities/kit/model/events.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { sendSigned } from '../../kit/http/signed-webhook.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { runSchedule } from '../../kit/sweep.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Numbers in the documents that a listener was given, by webhook, in the order of delivery. */
const followed: { readonly webhookId: string; readonly document: unknown }[] = [];
const follow = defineListener('follow-webhook', [on(integrationWebhook, 'received')], async ({ event, unit }) => {
  const stored = await unit.data.findOne(webhookEvent, { id: { eq: event.payload.eventId } });
  followed.push({ webhookId: event.entityId, document: JSON.parse(stored?.document ?? 'null') });
});

let world: World;
let client: TestClient;
let integrationId: string;
beforeAll(async () => {
  world = await openWorld({ worker: true, listeners: [follow] });
  client = await signedIn(world, await buildPerson(world));
  integrationId = (await client.post('/v1/integrations', { name: 'chat' })).body.id;
});
afterAll(() => world.close());

interface Webhook {
  readonly id: string;
  readonly secret: string;
  readonly url: string;
}

async function created(values: object = {}): Promise<Webhook> {
  const input = { integration_id: integrationId, name: newId(), ...values };
  const { id, secret } = (await client.post('/v1/integration-webhooks', input)).body;
  return { id, secret, url: `/v1/integrations/webhook/${id}` };
}

const send = ({ url, secret }: Webhook, document: object, id?: string) =>
  sendSigned(world, { url, secret, body: JSON.stringify(document), ...(id === undefined ? {} : { id }) });
const read = async ({ id }: Webhook) => (await client.get(`/v1/integration-webhooks/${id}`)).body;
const documentsOf = ({ id }: Webhook) =>
  followed.flatMap(({ webhookId, document }) => (webhookId === id ? [document] : []));

test('an event is recorded once for its webhook, and a listener gets its body', async () => {
  const webhook = await created();
  const document = { type: 'message.created', timestamp: '2026-01-01T00:00:00Z', data: { text: 'hello' } };
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(webhook, document, 'evt_1')));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  await eventually(() => isSettled(world));
  expect(documentsOf(webhook)).toEqual([document]);
  expect(await read(webhook)).toMatchObject({
    status: 'active',
    last_event_id: 'evt_1',
    last_event_status: 'accepted',
    last_event_error: null,
  });
});

test('two webhooks may get events with the same id', async () => {
  const [one, two] = [await created(), await created()];
  await send(one, { type: 'a', n: 1 }, 'same');
  await send(two, { type: 'a', n: 2 }, 'same');
  await eventually(() => isSettled(world));
  expect([documentsOf(one), documentsOf(two)]).toEqual([[{ type: 'a', n: 1 }], [{ type: 'a', n: 2 }]]);
});

test('events of one webhook are delivered in the order in which they arrive', async () => {
  const webhook = await created();
  const documents = Array.from({ length: 20 }, (_none, n) => ({ type: 'counted', n }));
  for (const document of documents) await send(webhook, document);
  await eventually(() => isSettled(world));
  expect(documentsOf(webhook)).toEqual(documents);
});

test('an event of a type that the webhook does not accept is noted, and has no effect', async () => {
  const webhook = await created({ allowed_events: ['message.created'] });
  expect((await send(webhook, { type: 'message.deleted' })).status).toBe(200);
  expect(await read(webhook)).toMatchObject({
    status: 'pending',
    last_event_status: 'refused',
    last_event_error: 'Events of the type message.deleted are not accepted.',
  });
  await eventually(() => isSettled(world));
  expect(documentsOf(webhook)).toEqual([]);
});

test('T-90: a request that is signed with the secret of another webhook, or with an old one, is refused', async () => {
  const [webhook, other] = [await created(), await created()];
  expectProblem(await send({ ...webhook, secret: other.secret }, { type: 'a' }), 'invalid_signature');
  const { body: rotated } = await client.post(`/v1/integration-webhooks/${webhook.id}/rotate`);
  expectProblem(await send(webhook, { type: 'a' }), 'invalid_signature');
  expect((await send({ ...webhook, secret: rotated.secret }, { type: 'a' })).status).toBe(200);
});

test('ids without a webhook are answered like routes that do not exist', async () => {
  const deleted = await created();
  await client.mutate({ method: 'DELETE', url: `/v1/integration-webhooks/${deleted.id}` });
  for (const id of [deleted.id, newId(), 'x'])
    expectProblem(await send({ ...deleted, url: `/v1/integrations/webhook/${id}` }, { type: 'a' }), 'route_not_found');
});

test.each([-301, 301])('T-94: a request that was signed %s seconds from now is refused', async (offsetS) => {
  const webhook = await created();
  const body = JSON.stringify({ type: 'a' });
  expectProblem(await sendSigned(world, { ...webhook, body, offsetS }), 'invalid_signature');
  expect((await sendSigned(world, { ...webhook, body, offsetS: Math.sign(offsetS) * 290 })).status).toBe(200);
});

test('T-94: an event that comes again an hour later, newly signed, has no second effect', async () => {
  const webhook = await created();
  const body = JSON.stringify({ type: 'a' });
  await sendSigned(world, { ...webhook, body, id: 'evt_1' });
  await asOwner(world, `update webhook_events set created_at = created_at - interval '1 hour' where provider = $1`, [
    `integration-${webhook.id.toLowerCase()}`,
  ]);
  expect((await sendSigned(world, { ...webhook, body, id: 'evt_1' })).status).toBe(200);
  expect(await stored(webhook)).toEqual([{ id: 'evt_1' }]);
});

test('T-92: a body of more than a mebibyte is refused before signature and webhook are looked at', async () => {
  const payload = JSON.stringify({ type: 'a', text: 'x'.repeat(1_048_576) });
  for (const { url } of [await created(), { url: `/v1/integrations/webhook/${newId()}` }]) {
    const headers = { 'content-type': 'application/json' };
    expectProblem(await world.client().request({ method: 'POST', url, headers, payload }), 'body_too_large');
  }
});

test('T-90: requests without a signature are refused before the webhook is looked up', async () => {
  for (const { id } of [await created(), { id: newId() }]) {
    const request = { method: 'POST', url: `/v1/integrations/webhook/${id}`, payload: { type: 'a' } } as const;
    expectProblem(await world.client().request(request), 'invalid_signature');
  }
});

test('events change neither the version of the webhook nor its history', async () => {
  const webhook = await created();
  await send(webhook, { type: 'a' });
  const { record_version: version, last_event_id: first } = await read(webhook);
  await send(webhook, { type: 'b' });
  const after = await read(webhook);
  expect(after).toMatchObject({ status: 'active', record_version: version, last_event_id: expect.any(String) });
  expect(after.last_event_id).not.toBe(first);
  const changes = await asOwner(world, `select 1 from history where entity_id = '${webhook.id}'`);
  // The creation, and the first event, which makes it active.
  expect(changes).toHaveLength(2);
});

test('nothing arrives while the integration is disabled or the organization archived, and after its deletion', async () => {
  const owner = await signedIn(world, await buildPerson(world));
  const { id: ownIntegrationId, organization_id: home } = (await owner.post('/v1/integrations', { name: 'chat' })).body;
  const { id, secret } = (
    await owner.post('/v1/integration-webhooks', { integration_id: ownIntegrationId, name: 'events' })
  ).body;
  const arrive = () => send({ id, secret, url: `/v1/integrations/webhook/${id}` }, { type: 'a' });
  const integrationIs = (status: 'connected' | 'disabled') =>
    asSystem(world, home, (data) => data.update(integration, ownIntegrationId, { status }));
  const archived = (isArchived: boolean) =>
    asSystem(world, home, (data) => data.update(organization, home, { isArchived }));
  await integrationIs('disabled');
  expectProblem(await arrive(), 'route_not_found');
  await integrationIs('connected');
  expect((await arrive()).status).toBe(200);
  await archived(true);
  expectProblem(await arrive(), 'route_not_found');
  await archived(false);
  expect((await arrive()).status).toBe(200);
  // Until the workflow has removed the contents, a deleted organization still has the webhook.
  const deletedAt = (at: 'now()' | 'null') =>
    asOwner(world, `update organizations set deleted_at = ${at} where id = '${home}'`);
  await deletedAt('now()');
  expectProblem(await arrive(), 'route_not_found');
  await deletedAt('null');
  expect((await arrive()).status).toBe(200);
});

/** Events of a webhook that are stored. */
const stored = ({ id }: Webhook) =>
  asOwner(world, 'select external_id as id from webhook_events where provider = $1', [
    `integration-${id.toLowerCase()}`,
  ]);

test('the events of a deleted webhook are removed, and those of others stay', async () => {
  const [deleted, other] = [await created(), await created()];
  for (const webhook of [deleted, other]) await send(webhook, { type: 'a' }, 'evt_1');
  await client.mutate({ method: 'DELETE', url: `/v1/integration-webhooks/${deleted.id}` });
  await runSchedule(world, 'prune-records');
  expect(await stored(deleted)).toEqual([]);
  expect(await stored(other)).toEqual([{ id: 'evt_1' }]);
});

test('signed bodies without a type have no effect, and malformed ones are refused', async () => {
  const webhook = await created();
  for (const document of [[], {}, { type: '' }, { type: 1 }, { type: 'a\nb' }])
    expect((await send(webhook, document)).status).toBe(200);
  expectProblem(await sendSigned(world, { ...webhook, body: '{' }), 'malformed_body');
  expect(await read(webhook)).toMatchObject({ status: 'pending', last_event_id: null });
  expect(await stored(webhook)).toEqual([]);
});

test('every JSON document that fits is stored as it arrived: large numbers, and text that would be longer when written anew', async () => {
  const webhook = await created();
  const numbers = Array.from({ length: 150_000 }, () => '1e20').join();
  const bodies = [
    '{"type": "a", "id": 9007199254740993}',
    `{"type":"a","numbers":[${numbers}]}`,
    '{"type":"a",\r\n\t"n":1}',
  ];
  for (const [n, body] of bodies.entries())
    expect((await sendSigned(world, { ...webhook, body, id: `evt_${n}` })).status).toBe(200);
  const rows = await asOwner(world, 'select document from webhook_events where provider = $1 order by external_id', [
    `integration-${webhook.id.toLowerCase()}`,
  ]);
  expect(rows.every(({ document }, n) => document === bodies[n])).toBe(true);
  expect(rows).toHaveLength(3);
});

test('a large event counts as several', async () => {
  const webhook = await created();
  const large = (id: string) => send(webhook, { type: 'a', text: 'x'.repeat(1_000_000) }, id);
  expect((await large('evt_1')).status).toBe(200);
  const counted = await asOwner(
    world,
    `update sign_in_failures set failures = 5000 - failures where key like $1 returning failures`,
    [`received-events:${webhook.id}/%`],
  );
  // 62 of 16 KB each.
  expect(counted).toEqual([{ failures: 4_938 }]);
  expect((await large('evt_2')).status).toBe(200);
  expectProblem(await send(webhook, { type: 'a' }, 'evt_3'), 'too_many_requests');
});

test('a webhook takes so many new events in an hour, and others take theirs', async () => {
  const [webhook, other] = [await created(), await created()];
  await send(webhook, { type: 'a' }, 'evt_1');
  const filled = await asOwner(
    world,
    `update sign_in_failures set failures = 5000 where key like $1 returning failures`,
    [`received-events:${webhook.id}/%`],
  );
  expect(filled).toHaveLength(1);
  const refused = await send(webhook, { type: 'a' }, 'evt_2');
  expectProblem(refused, 'too_many_requests');
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(3_600);
  expect(await read(webhook)).toMatchObject({
    last_event_id: 'evt_2',
    last_event_status: 'refused',
    last_event_error: 'More events have arrived than a receiver takes in an hour.',
  });
  // It has no effect, so it needs no place.
  expect((await send(webhook, { type: 'a' }, 'evt_1')).status).toBe(200);
  expect((await send(other, { type: 'a' })).status).toBe(200);
  expect(await stored(webhook)).toEqual([{ id: 'evt_1' }]);
  // Whoever has signed in has to do so again from here on.
  world.clock.advance(3_600_000);
  expect((await send(webhook, { type: 'a' }, 'evt_2')).status).toBe(200);
});
