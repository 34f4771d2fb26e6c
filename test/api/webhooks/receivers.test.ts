import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configuredSender } from '#api/rest/webhooks/configured-sender.ts';
import { defineReceiver, filledText } from '#api/rest/webhooks/define-receiver.ts';
import { hasStandardSignature } from '#api/rest/webhooks/standard-signature.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { sendSigned } from '../../kit/http/signed-webhook.ts';
import { openWorld, type World } from '../../kit/world.ts';

const secretOf = (name: string) => `whsec_${Buffer.from(`secret of version ${name}`).toString('base64')}`;
const secrets: ReadonlyMap<unknown, string> = new Map([
  ['2025', secretOf('2025')],
  ['2026', secretOf('2026')],
]);

/** A receiver as a payment provider needs it: its requests name a version, and those of one version are discarded. */
const versioned = defineReceiver({
  url: '/v1/versioned',
  operationId: 'receiveVersioned',
  summary: 'Events in versions',
  description: 'For a test.',
  limitBytes: 200,
  query: Type.Object({ version: Type.Optional(Type.String()) }, { additionalProperties: false }),
  senders: configuredSender('versioned', (_config, { query }) => secrets.get(query['version']) ?? ''),
  discards: ({ query }) => query['version'] === '2024',
  verify: hasStandardSignature,
  payload: Type.Object({ id: filledText, paid: Type.Integer() }),
  read: ({ id, paid }) => ({
    externalId: id,
    type: 'paid',
    occurredAt: new Date(0),
    values: { paid: String(paid) },
  }),
});

let world: World;
beforeAll(async () => {
  world = await openWorld({ routes: [versioned] });
});
afterAll(() => world.close());

const send = (version: string, document: object, secret = secretOf(version)) =>
  sendSigned(world, { url: `/v1/versioned?version=${version}`, secret, body: JSON.stringify(document) });
const stored = async () => {
  const rows = await asOwner<{ readonly id: string }>(
    world,
    'select external_id as id from webhook_events order by webhook_events.id',
  );
  return rows.map(({ id }) => id);
};

test('each version has its own secret', async () => {
  expectProblem(await send('2025', { id: 'a', paid: 1 }, secretOf('2026')), 'invalid_signature');
  expect((await send('2025', { id: 'a', paid: 1 })).status).toBe(200);
  expect((await send('2026', { id: 'b', paid: 1 })).status).toBe(200);
  expect(await stored()).toEqual(['a', 'b']);
});

test('a version without a secret has no route', async () => {
  expectProblem(await send('2023', { id: 'c', paid: 1 }), 'route_not_found');
});

test('a version that is discarded is acknowledged whoever signs, and nothing is stored', async () => {
  const before = await stored();
  expect((await send('2024', { id: 'd', paid: 1 }, secretOf('nobody'))).status).toBe(200);
  expect(await stored()).toEqual(before);
});

test('bodies beyond the limit are refused before anything is read, and those of another form have no effect', async () => {
  expectProblem(await send('2026', { id: 'e'.repeat(300), paid: 1 }), 'body_too_large');
  const before = await stored();
  for (const document of [{ id: 'f' }, { id: '', paid: 1 }, { id: 'f', paid: 'much' }])
    expect((await send('2026', document)).status).toBe(200);
  expect(await stored()).toEqual(before);
});
