import { createHmac } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAddressCommand, type AddressCommand } from '#tools/commands/address-commands.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeProviderA } from '../../kit/fakes/fake-provider-a.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let fake: FakeProviderA;
let owner: Person;
let client: TestClient;
/** Texts of the statements of requests. */
const statements: string[] = [];

const svixSecret = `whsec_${Buffer.from('secret of the webhooks of a').toString('base64')}`;
const password = 'password of the webhooks of b';
const [urlA, urlB] = ['/v1/email/webhook/providera', '/v1/email/webhook/providerb'];

beforeAll(async () => {
  fake = await FakeProviderA.start();
  world = await openWorld({
    worker: true,
    environment: {
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40),
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providera',
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: fake.apiKey,
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: svixSecret,
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_WEBHOOKSECRET: password,
    },
    emailProviders: { urls: { providera: fake.url } },
    observers: [requestStatements(statements)],
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(async () => {
  await world.close();
  await fake.close();
});

interface Signing {
  readonly id?: string;
  readonly secret?: string;
  readonly offsetS?: number;
  readonly signed?: string;
  /** Of the signature. */
  readonly version?: string;
}

function sendA(
  body: string,
  { id = newId(), secret = svixSecret, offsetS = 0, signed = body, version = 'v1' }: Signing = {},
) {
  const timestamp = String(Math.floor(world.clock.now().getTime() / 1_000) + offsetS);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${signed}`).digest('base64');
  const headers = { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': `${version},${signature}` };
  return world.client().request({
    method: 'POST',
    url: urlA,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: body,
  });
}

function sendB(body: string, given = password): Promise<TestAnswer> {
  const authorization = `Basic ${Buffer.from(`webhook:${given}`).toString('base64')}`;
  return world.client().request({
    method: 'POST',
    url: urlB,
    headers: { authorization, 'content-type': 'application/json' },
    payload: body,
  });
}

interface Sent {
  readonly id: string;
  readonly message_id: string;
  readonly to: string;
}

async function sentMail(to = `${newId().toLowerCase()}@example.com`): Promise<Sent> {
  const { body } = await client.post('/v1/invites', { recipient: to });
  const mail = await eventually(async () => {
    const [found] = (await client.get(`/v1/emails?about_id=${body.id}`)).body.data;
    return found?.status === 'sent' && found;
  });
  return { ...mail, to };
}

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

const eventOfA = ({ id, message_id, to }: Sent, type: string, seconds: number, more: object = {}) =>
  JSON.stringify({
    type,
    created_at: at(seconds),
    data: { email_id: message_id, to: [to], tags: { email_id: id }, ...more },
  });

const eventOfB = ({ id, message_id, to }: Sent, RecordType: string, time: object, more: object = {}) =>
  JSON.stringify({
    RecordType,
    MessageID: message_id,
    Recipient: to,
    Email: to,
    Metadata: { email_id: id },
    ...time,
    ...more,
  });

const read = async ({ id }: Sent) => (await client.get(`/v1/emails/${id}`)).body;
const stored = () => asOwner(world, 'select external_id from webhook_events');

describe('a receiver', () => {
  test.each([
    ['without headers', () => world.client().request({ method: 'POST', url: urlA, payload: '{}' })],
    ['signed with another secret', () => sendA('{}', { secret: `whsec_${Buffer.from('wrong').toString('base64')}` })],
    ['with another body than the signed one', () => sendA('{"type":"email.sent"}', { signed: '{}' })],
    ['signed in another version', () => sendA('{}', { version: 'v2' })],
    ['signed without a version', () => sendA('{}', { version: '' })],
    ['with a wrong password', () => sendB('{}', 'wrong')],
    ['with an empty password', () => sendB('{}', '')],
  ])('T-90: refuses a request %s, and stores nothing', async (_what, send) => {
    const before = (await stored()).length;
    expectProblem(await send(), 'invalid_signature');
    expect(await stored()).toHaveLength(before);
  });

  test.each([-301, 301])('T-94: refuses a request that was signed %s seconds from now', async (offsetS) => {
    const before = (await stored()).length;
    expectProblem(await sendA('{}', { offsetS }), 'invalid_signature');
    expect(await stored()).toHaveLength(before);
    expect((await sendA('{}', { offsetS: Math.sign(offsetS) * 299 })).status).toBe(200);
  });

  test('T-94: an event that comes again an hour later, newly signed, has no second effect', async () => {
    const mail = await sentMail();
    const id = newId();
    expect((await sendA(eventOfA(mail, 'email.delivered', 5), { id })).status).toBe(200);
    await eventually(async () => (await read(mail)).status === 'delivered');
    const before = await asOwner(world, 'select id from webhook_events');
    const events = () => asOwner(world, `select id from events where topic = 'webhook_event.received'`);
    const announced = await events();
    world.clock.advance(3_600_000);
    client = await signedIn(world, owner);
    // Whatever it says now: the provider has used its id.
    for (const type of ['email.delivered', 'email.complained'])
      expect((await sendA(eventOfA(mail, type, 5), { id })).status).toBe(200);
    expect(await asOwner(world, 'select id from webhook_events')).toEqual(before);
    expect(await events()).toEqual(announced);
    expect(await read(mail)).toMatchObject({ status: 'delivered', complained_at: null });
  });

  test('T-92: refuses more than a mebibyte before it looks at signature or secret, and stores nothing', async () => {
    const before = (await stored()).length;
    const large = `"${'x'.repeat(2_097_152)}"`;
    expectProblem(await sendA(large), 'body_too_large');
    expectProblem(await sendA(large, { secret: 'whsec_wrong' }), 'body_too_large');
    expectProblem(await sendB(large, 'wrong'), 'body_too_large');
    expectProblem(await world.client().request({ method: 'POST', url: urlA, payload: large }), 'body_too_large');
    expect(await stored()).toHaveLength(before);
  });

  test('refuses what is no JSON', async () => {
    const before = (await stored()).length;
    expectProblem(await sendA('{'), 'malformed_body');
    expectProblem(await sendB('\u0000'), 'malformed_body');
    expect(await stored()).toHaveLength(before);
  });

  test('T-90: is not there without a secret', async () => {
    shows('integrations.email.providera.webhooksecret', 'integrations.email.providerb.webhooksecret');
    await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDERB_WEBHOOKSECRET: '' });
    expectProblem(await sendB('{}', ''), 'route_not_found');
    await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDERB_WEBHOOKSECRET: password });
    expect((await sendB('{}')).status).toBe(200);
    await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: '' });
    expectProblem(await sendA('{}'), 'route_not_found');
    await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: svixSecret });
    expect((await sendA('{}')).status).toBe(200);
  });

  test('T-90: accepts nothing that is signed with a secret that has no key', async () => {
    try {
      for (const secret of ['whsec_', 'whsec_AAAA', '!']) {
        await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: secret });
        expectProblem(await sendA('{}', { secret }), 'invalid_signature');
      }
    } finally {
      await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: svixSecret });
    }
  });

  test('answers types that nobody knows, and mails of others, without effect', async () => {
    const before = (await stored()).length;
    const mail = await sentMail();
    expect((await sendA(eventOfA(mail, 'contact.created', 1))).status).toBe(200);
    expect((await sendA('{"type":{"a":1}}')).status).toBe(200);
    for (const type of ['constructor', 'toString', '__proto__'])
      expect((await sendA(eventOfA(mail, type, 1))).status, type).toBe(200);
    const late = eventOfA(mail, 'email.sent', 1).replace(at(1), '+200000-01-01T00:00:00Z');
    expect((await sendA(late)).status).toBe(200);
    expect((await sendB('[]')).status).toBe(200);
    expect((await sendB(JSON.stringify({ RecordType: 'SubscriptionChange' }))).status).toBe(200);
    expect(await stored()).toHaveLength(before);
    expect((await sendA(eventOfA({ ...mail, id: newId() }, 'email.delivered', 1))).status).toBe(200);
  });

  test('stores an event once, however often and however concurrently it arrives', async () => {
    const mail = await sentMail();
    const before = (await stored()).length;
    const id = newId();
    const body = eventOfA(mail, 'email.delivered', 5);
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendA(body, { id })));
    const delivery = eventOfB(mail, 'Delivery', { DeliveredAt: at(6) });
    const ofStoring = () => statements.filter((text) => text.includes('"webhook_events"'));
    statements.length = 0;
    expect((await sendB(eventOfB(mail, 'Open', { ReceivedAt: at(4) }))).status).toBe(200);
    // The event is written by the statement that stores it.
    expect(ofStoring()).toHaveLength(1);
    expect(ofStoring().at(-1)).toContain('select write_changes(');
    // It is committed in the same round trip.
    expect(statements).not.toContain('commit');
    const others = await Promise.all(Array.from({ length: 10 }, () => sendB(delivery)));
    expect([...answers, ...others].map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(await stored()).toHaveLength(before + 3);
    await eventually(async () => (await read(mail)).status === 'delivered');
  });
});

test('the events of a provider lead to the same record in any order', async () => {
  const reports = (mail: Sent) => [
    () => sendA(eventOfA(mail, 'email.sent', 1)),
    () => sendA(eventOfA(mail, 'email.delivered', 3)),
    () => sendB(eventOfB(mail, 'Delivery', { DeliveredAt: at(2) })),
    () => sendA(eventOfA(mail, 'email.opened', 6)),
    () => sendB(eventOfB(mail, 'Open', { ReceivedAt: at(5) })),
    () => sendB(eventOfB(mail, 'Bounce', { BouncedAt: at(4) }, { Type: 'SoftBounce' })),
    () => sendA(eventOfA(mail, 'email.bounced', 7, { bounce: { type: 'Permanent' } })),
    () => sendA(eventOfA(mail, 'email.complained', 8)),
  ];
  const orders = [
    [0, 1, 2, 3, 4, 5, 6, 7],
    [7, 6, 5, 4, 3, 2, 1, 0],
    [6, 3, 7, 0, 5, 1, 4, 2],
  ];
  const results = [];
  for (const order of orders) {
    const mail = await sentMail();
    for (const index of order) expect((await reports(mail)[index]?.())?.status).toBe(200);
    const result = await eventually(async () => {
      const body = await read(mail);
      const { opened_at, bounced_at, delivered_at, complained_at, bounce_type } = body;
      const times = [delivered_at, bounced_at, opened_at, complained_at];
      return bounce_type === 'hard' && JSON.stringify(times) === JSON.stringify([at(2), at(4), at(5), at(8)]) && body;
    });
    const { status, delivered_at, bounced_at, bounce_type, complained_at, opened_at, clicked_at, error_code } = result;
    results.push({ status, delivered_at, bounced_at, bounce_type, complained_at, opened_at, clicked_at, error_code });
  }
  expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  expect(results[0]).toMatchObject({ status: 'complained', bounce_type: 'hard', complained_at: at(8) });
});

describe('an address', () => {
  const suppressions = async (address: string) =>
    (await client.get(`/v1/email-suppressions?email=${encodeURIComponent(address)}`)).body.data;

  test('gets nothing more after a hard bounce, until a manager releases it with a reason', async () => {
    const mail = await sentMail();
    await sendA(eventOfA(mail, 'email.bounced', 1, { bounce: { type: 'Permanent' } }));
    const [held] = await eventually(async () => {
      const found = await suppressions(mail.to);
      return found.length > 0 && found;
    });
    expect(held).toMatchObject({ reason: 'hard_bounce', email_id: mail.id, released_at: null });
    fake.suppressed.add(mail.to);

    await client.post(`/v1/emails/${mail.id}/resend`);
    const again = await eventually(async () => {
      const [found] = (await client.get(`/v1/emails?status=suppressed&order_by=-created_at`)).body.data;
      return found;
    });
    expect(again).toMatchObject({ error_code: 'hard_bounce', attempts: 0 });
    expect(fake.accepted.filter(({ to }) => to.includes(mail.to))).toHaveLength(1);

    const release = (body: object, by = client) => by.post(`/v1/email-suppressions/${held.id}/release`, body);
    expectProblem(await release({}), 'invalid_input');
    expectProblem(await release({ reason: '' }), 'invalid_input');
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await release({ reason: 'for me' }, stranger), 'not_found');
    expect((await release({ reason: 'the server is back' })).status).toBe(200);
    expectProblem(await release({ reason: 'once more' }), 'rule_violated');
    const [released] = await suppressions(mail.to);
    expect(released).toMatchObject({ release_reason: 'the server is back', released_at: expect.any(String) });
    await eventually(() => !fake.suppressed.has(mail.to));

    await client.post(`/v1/emails/${mail.id}/resend`);
    await eventually(() => fake.accepted.filter(({ to }) => to.includes(mail.to)).length === 2);
  });

  test('that a provider writes in another form is not suppressed, and the rest of its report counts', async () => {
    const mail = await sentMail();
    const body = JSON.parse(eventOfB(mail, 'SpamComplaint', { BouncedAt: at(4) })) as object;
    const odd = { Recipient: `Jo <${mail.to}>`, Email: 'x'.repeat(300), MessageID: 'm'.repeat(1_000) };
    expect((await sendB(JSON.stringify({ ...body, ...odd }))).status).toBe(200);
    await eventually(async () => (await read(mail)).status === 'complained');
    expect(await suppressions(mail.to)).toEqual([]);
  });

  test('gets mails again after a soft bounce', async () => {
    const mail = await sentMail();
    await sendB(eventOfB(mail, 'Bounce', { BouncedAt: at(4) }, { Type: 'Transient' }));
    expect(
      await eventually(async () => {
        const body = await read(mail);
        return body.status === 'bounced' && body;
      }),
    ).toMatchObject({ bounce_type: 'soft' });
    expect(await suppressions(mail.to)).toEqual([]);
  });

  test('that a manager has entered and releases stays suppressed at the provider, which knows why', async () => {
    const email = `${newId().toLowerCase()}@example.com`;
    const { body } = await client.post('/v1/email-suppressions', { email });
    expect((await client.post(`/v1/email-suppressions/${body.id}/release`, { reason: 'a mistake' })).status).toBe(200);
    await eventually(
      async () =>
        (
          await asOwner(
            world,
            `select 1 from event_deliveries where entity_id = $1 and listener = 'release-at-provider' and state = 'done'`,
            [body.id],
          )
        ).length === 1,
    );
    // A workflow is started before its listener's delivery is recorded.
    const { client: temporal } = world.runtime.temporal;
    const handle = temporal.workflow.getHandle(`${world.name}/release-address/${body.id}`);
    await expect(handle.describe()).rejects.toThrow(WorkflowNotFoundError);
  });

  test('that a manager enters gets none, except about security', async () => {
    const entered = await client.post('/v1/email-suppressions', { email: owner.user.email.toUpperCase() });
    expect(entered).toMatchObject({ status: 201, body: { email: owner.user.email, reason: 'manual' } });
    expectProblem(await client.post('/v1/email-suppressions', { email: owner.user.email }), 'already_exists');
    const token = await client.post('/v1/api-tokens', { name: 'program', scopes: ['task:read'] });
    expect(token, JSON.stringify(token.body)).toMatchObject({ status: 201 });
    await eventually(() =>
      fake.accepted.some(({ to, subject }) => to.includes(owner.user.email) && /token/.test(subject)),
    );
  });
});

test('a mail is unsubscribed from with one request that has the token of its header and nothing else', async () => {
  const mail = await sentMail();
  const { headers = {} } = fake.accepted.find(({ to }) => to.includes(mail.to)) ?? {};
  expect(headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
  const [, url = ''] =
    /^<https:\/\/api\.test(\/v1\/unsubscribe\?token=[A-Za-z0-9._-]+)>$/.exec(headers['List-Unsubscribe'] ?? '') ?? [];
  expect(url).not.toBe('');

  expect((await world.client().get(url)).status).toBe(200);
  expect((await client.get(`/v1/email-suppressions?email=${mail.to}`)).body.data).toEqual([]);
  const oneClick = (target: string, type = 'application/x-www-form-urlencoded') =>
    world.client().request({
      method: 'POST',
      url: target,
      headers: { 'content-type': type },
      payload: 'List-Unsubscribe=One-Click',
    });
  const answers = await Promise.all(Array.from({ length: 5 }, () => oneClick(url)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const { body } = await client.get(`/v1/email-suppressions?email=${mail.to}`);
  expect(body.data).toEqual([expect.objectContaining({ reason: 'unsubscribed', email_id: mail.id })]);

  expectProblem(await oneClick(url.slice(0, -1)), 'invalid_token');
  expectProblem(await oneClick('/v1/unsubscribe'), 'invalid_token');
  expectProblem(await oneClick(url, 'text/plain'), 'unsupported_media_type');
});

test('an address that has complained about a mail of an account is released by an operator', async () => {
  const email = `${newId().toLowerCase()}@example.com`;
  const register = () => world.client().post('/v1/register', { email, password: 'correct horse battery' });
  const resend = () => {
    world.clock.advance(10 * 60_000);
    return world.client().post('/v1/resend', { email });
  };
  const states = async () =>
    (
      await asOwner<{ status: string }>(
        world,
        `select status from account_emails e join email_verifications v on v.id = e.about_id where v.email = $1 order by e.id`,
        [email],
      )
    ).map(({ status }) => status);
  await register();
  await eventually(async () => (await states())[0] === 'sent');
  const { tags = [], id: message_id = '' } = fake.accepted.find(({ to }) => to.includes(email)) ?? {};
  const mail = { id: tags[0]?.value ?? '', message_id, to: email };
  await sendA(eventOfA(mail, 'email.complained', 1));
  await eventually(async () => (await states())[0] === 'complained');
  await resend();
  await eventually(async () => (await states())[1] === 'suppressed');

  const lines: string[] = [];
  const run = (command: AddressCommand) =>
    runAddressCommand(command, { runtime: world.runtime, print: (line) => lines.push(line) });
  fake.suppressed.add(email);
  expect(await run({ name: 'list' })).toBe(true);
  expect(lines.join()).toContain(`${email}  complaint`);
  const release = { name: 'release', address: email.toUpperCase(), reason: 'by mistake' } as const;
  expect([await run(release), await run(release)]).toEqual([true, false]);
  await eventually(() => !fake.suppressed.has(email));
  await resend();
  await eventually(async () => (await states())[2] === 'sent');
});
