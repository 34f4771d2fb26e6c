import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ProviderA } from '#activities/clients/email/provider-a.ts';
import { ProviderB } from '#activities/clients/email/provider-b.ts';
import type { EmailTransport, OutgoingEmail } from '#activities/clients/email/transport.ts';
import { HttpFake } from '../kit/fakes/http-fake.ts';

/** A request as the npm client of a provider has made it for the mail below. */
interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface RecordedRequests {
  readonly providera: Readonly<Record<'send' | 'list' | 'get' | 'release', RecordedRequest>>;
  readonly providerb: Readonly<Record<'send' | 'find' | 'release', RecordedRequest>>;
}

/** Made by the versions of the npm clients that the file names, against a server of this machine. */
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'kit', 'fakes', 'recorded-provider-requests.json'), 'utf8'),
) as RecordedRequests;

const mail: OutgoingEmail = {
  id: '01KG9ZV4X3M8Q2T7R5W1Y6B0CD',
  from: 'Core <core@example.com>',
  to: 'somebody+list@example.com',
  subject: 'You are invited — to “Example”',
  html: '<p>Hello & welcome</p>',
  text: 'Hello & welcome',
  headers: {
    'List-Unsubscribe': '<https://api.test/v1/unsubscribe?token=t>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
  isTrackable: false,
};

let fake: HttpFake;
beforeAll(async () => {
  const listed = { id: 'm', to: [mail.to], subject: mail.subject, created_at: new Date().toISOString() };
  fake = await HttpFake.start(({ method, path }) => ({
    status: 200,
    body: {
      ...(method === 'GET' && path === '/emails' ? { data: [listed], has_more: false } : { id: 'm' }),
      ErrorCode: 0,
      MessageID: 'm',
      Messages: [],
    },
  }));
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.requests.length = 0;
});

/** Headers that mean something to the providers. */
const meaningful = ['authorization', 'idempotency-key', 'x-postmark-server-token'];

/** What our client has asked, and what the npm client asks for the same. */
function expectSame(wanted: RecordedRequest, index = 0): void {
  const { method = '', path, query, headers = {}, body = '' } = fake.requests[index] ?? {};
  const search = query === undefined || query.size === 0 ? '' : `?${query.toString()}`;
  expect([method, `${path}${search}`]).toEqual([wanted.method, wanted.url]);
  expect(body === '' ? null : JSON.parse(body)).toEqual(wanted.body);
  for (const name of meaningful) expect(headers[name as keyof typeof headers], name).toBe(wanted.headers[name]);
  if (body !== '') expect(headers['content-type']).toBe('application/json');
}

const send = (transport: EmailTransport) => transport.send(mail, transport.bodyOf(mail));

describe('requests to providera are those of its npm client', () => {
  const { providera: wanted } = recorded;
  const client = () => new ProviderA({ url: fake.url, apiKey: 'key-of-a', timeoutMs: 5_000 });

  test('to send a mail', async () => {
    expect(await send(client())).toBe('m');
    expectSame(wanted.send);
  });

  test('to look for one', async () => {
    expect(await client().find(mail, new Date())).toBeUndefined();
    expect(fake.requests).toHaveLength(2);
    expectSame(wanted.list);
    expectSame(wanted.get, 1);
  });

  test('to release an address', async () => {
    await client().release(mail.to);
    expectSame(wanted.release);
  });
});

describe('requests to providerb are those of its npm client', () => {
  const { providerb: wanted } = recorded;
  const client = () =>
    new ProviderB({
      url: fake.url,
      serverToken: 'token-of-b',
      messageStream: 'outbound',
      trackOpens: true,
      trackLinks: 'HtmlAndText',
      timeoutMs: 5_000,
    });

  test('to send a mail', async () => {
    expect(await send(client())).toBe('m');
    expectSame(wanted.send);
  });

  test('to look for one', async () => {
    expect(await client().find(mail)).toBeUndefined();
    expectSame(wanted.find);
  });

  test('to release an address', async () => {
    await client().release(mail.to);
    expectSame(wanted.release);
  });
});
