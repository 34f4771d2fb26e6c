// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { ScimClient, scimSchemas } from '../kit/integrations/scim-client.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import type { Random } from '../kit/random.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

const mutations = timesOf({ sample: 600, prove: 10_000 });

const svixSecret = `whsec_${Buffer.from('secret of the webhooks of a').toString('base64')}`;
const password = 'password of the webhooks of b';

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: svixSecret,
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_WEBHOOKSECRET: password,
      CORE_INTEGRATIONS_CODEHOSTAPP_WEBHOOKSECRET: password,
    },
  });
});
afterAll(() => world.close());

const at = '2026-01-01T00:00:00.000Z';

/** Reports as the providers write them. */
const valid: Readonly<Record<'providera' | 'providerb' | 'codehost', readonly (() => object)[]>> = {
  codehost: ['deleted', 'suspend', 'unsuspend'].map((action) => () => ({
    action,
    installation: { id: 5_100_000, account: { login: 'example', id: 1, type: 'Organization' }, suspended_at: at },
    repositories: [{ id: 1, full_name: 'example/repository', private: true }],
    sender: { login: 'someone', id: 2 },
  })),
  providera: ['email.delivered', 'email.bounced', 'email.complained', 'email.opened'].map((type) => () => ({
    type,
    created_at: at,
    data: {
      email_id: newId(),
      from: 'core@example.com',
      to: [`${newId().toLowerCase()}@example.com`],
      subject: 'You are invited',
      tags: { email_id: newId() },
      ...(type === 'email.bounced' ? { bounce: { type: 'Permanent', message: 'unknown mailbox' } } : {}),
    },
  })),
  providerb: ['Delivery', 'Bounce', 'SpamComplaint', 'Open'].map((RecordType) => () => ({
    RecordType,
    MessageID: newId(),
    Recipient: `${newId().toLowerCase()}@example.com`,
    Email: `${newId().toLowerCase()}@example.com`,
    Metadata: { email_id: newId() },
    DeliveredAt: at,
    BouncedAt: at,
    ReceivedAt: at,
    Type: 'HardBounce',
  })),
};

const odd: readonly unknown[] = [
  null,
  true,
  -0,
  1e308,
  '',
  '\u0000',
  '\u{D800}',
  '\u{1F600}'.repeat(300),
  'x'.repeat(100_000),
  [],
  [[[]]],
  {},
  { constructor: { prototype: {} } },
  { toString: null },
  '0000-00-00T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.001Z',
  "'; drop table webhook_events; --",
  '<script>',
  '\r\nBcc: everybody@example.com',
  Array.from({ length: 2_000 }, (_none, index) => index),
];

/** A value with one part replaced, removed, doubled or renamed. */
function mutated(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return random.pick(odd);
  if (Array.isArray(value)) return [...value, mutated(value[0], random)];
  const entries = Object.entries(value);
  if (entries.length === 0) return random.pick(odd);
  const index = random.below(entries.length);
  const [name, part] = entries[index] as [string, unknown];
  if (random.chance(0.15)) return Object.fromEntries(entries.toSpliced(index, 1));
  const rename = random.chance(0.1)
    ? random.pick(['__proto__', 'constructor', name.toUpperCase(), '', `${name}\u0000`])
    : name;
  return JSON.parse(
    `{${entries
      .toSpliced(index, 1, [rename, mutated(part, random)])
      .map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`)
      .join(',')}}`,
  ) as unknown;
}

/** The text of a report with a wrong part: mostly still JSON, sometimes not. */
function mutatedText(report: object, random: Random): string {
  let value: unknown = report;
  for (let times = 1 + random.below(3); times > 0; times--) value = mutated(value, random);
  const text = JSON.stringify(value);
  if (!random.chance(0.2)) return text;
  const place = random.below(text.length);
  return random.pick([
    text.slice(0, Math.max(1, place)),
    text.slice(0, place) + random.pick(['"', '{', '\u0001', '\\', ',']) + text.slice(place),
    `[${text},${text}]`,
    text.repeat(2),
  ]);
}

function send(provider: keyof typeof valid, body: string) {
  const id = newId();
  if (provider === 'codehost')
    return world.client().request({
      method: 'POST',
      url: '/v1/codehost/app/webhook',
      headers: {
        'x-github-event': 'installation',
        'x-github-delivery': id,
        'x-hub-signature-256': `sha256=${createHmac('sha256', password).update(body).digest('hex')}`,
        'content-type': 'application/json',
      },
      payload: body,
    });
  const timestamp = String(Math.floor(world.clock.now().getTime() / 1_000));
  const key = Buffer.from(svixSecret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const proof =
    provider === 'providera'
      ? { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': `v1,${signature}` }
      : { authorization: `Basic ${Buffer.from(`webhook:${password}`).toString('base64')}` };
  return world.client().request({
    method: 'POST',
    url: `/v1/email/webhook/${provider}`,
    headers: { ...proof, 'content-type': 'application/json' },
    payload: body,
  });
}

test('T-93: reports that are signed and wrong are answered without an error of the server, and no listener fails over them', async () => {
  const random = seeded('mutated reports');
  const statuses = new Map<number, number>();
  for (let done = 0; done < mutations; done++) {
    const provider = random.pick(['providera', 'providerb', 'codehost']);
    const text = mutatedText(random.pick(valid[provider])(), random);
    const { status, body } = await send(provider, text);
    expect([200, 400], `${provider} ${text.slice(0, 2_000)}: ${JSON.stringify(body)}`).toContain(status);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  // Some are still right enough to be stored, some are no JSON.
  expect(statuses.get(200)).toBeGreaterThan(mutations / 4);
  expect(statuses.get(400)).toBeGreaterThan(0);
  expect((await asOwner(world, 'select 1 from webhook_events')).length).toBeGreaterThan(0);
  await eventually(() => isSettled(world));
  expect(await asOwner(world, `select listener, error from event_deliveries where state <> 'done'`)).toEqual([]);
  recordTried('mutated reports of mail providers and the code host', mutations);
});

test('T-93: documents of a pushed directory that are wrong are answered without an error of the server', async () => {
  const random = seeded('mutated directories');
  const scim = await ScimClient.connect(world, await signedIn(world, await buildPerson(world)));
  const user = await scim.createUser('first');
  const group = await scim.createGroup('First', [user]);
  const requests: readonly (readonly [string, string, () => object])[] = [
    [
      'POST',
      '/Users',
      () => ({
        schemas: [scimSchemas.user, scimSchemas.enterprise],
        userName: newId(),
        name: { givenName: 'Ann', familyName: 'Arbor' },
        emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
        active: 'True',
        [scimSchemas.enterprise]: { department: 'Security', manager: { value: user } },
      }),
    ],
    ['PUT', `/Groups/${group}`, () => ({ schemas: [scimSchemas.group], displayName: 'G', members: [{ value: user }] })],
    [
      'PATCH',
      `/Users/${user}`,
      () => ({
        schemas: [scimSchemas.patch],
        Operations: [
          { op: 'Replace', path: 'emails[type eq "work" and value co "@"].value', value: 'b@example.com' },
          { op: 'add', value: { 'name.familyName': 'New', active: 'False' } },
        ],
      }),
    ],
    [
      'PATCH',
      `/Groups/${group}`,
      () => ({
        schemas: [scimSchemas.patch],
        Operations: [{ op: 'Remove', path: `members[value eq "${user}"]` }],
      }),
    ],
    [
      'POST',
      '/Users/.search',
      () => ({ filter: `not (userName eq "${user}") and emails pr`, startIndex: 1, count: 3 }),
    ],
  ];
  const statuses = new Map<number, number>();
  for (let done = 0; done < mutations / 2; done++) {
    const [method, path, valid] = random.pick(requests);
    const text = mutatedText(valid(), random);
    const { status, body } = await scim.send(method, path, text);
    expect([200, 201, 400, 409], `${method} ${path} ${text.slice(0, 2_000)}: ${JSON.stringify(body)}`).toContain(
      status,
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(statuses.get(400)).toBeGreaterThan(mutations / 20);
  expect((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0)).toBeGreaterThan(0);
  recordTried('mutated documents of a pushed directory', mutations / 2);
});
