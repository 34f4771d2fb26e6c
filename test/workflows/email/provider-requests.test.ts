import { ServerClient } from 'postmark';
import { Resend } from 'resend';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idTag, ProviderA } from '#activities/clients/email/provider-a.ts';
import { idMetadata, ProviderB } from '#activities/clients/email/provider-b.ts';
import type { EmailTransport, OutgoingEmail } from '#activities/clients/email/transport.ts';
import { FakeProviderA } from '../../kit/fakes/fake-provider-a.ts';
import { FakeProviderB } from '../../kit/fakes/fake-provider-b.ts';
import type { FakeRequest } from '../../kit/fakes/http-fake.ts';

// The providers' own npm clients and ours ask the same fake for the same; it gets the same requests from both.

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
const otherId = '01KG9ZV4X3M8Q2T7R5W1Y6B0CE';

/** Headers that mean something to the providers. */
const meaningful = ['authorization', 'idempotency-key', 'x-postmark-server-token'] as const;

/** What a provider reads of a request. */
function readOf({ method, path, query, headers, body }: FakeRequest): object {
  return {
    method,
    path,
    query: Object.fromEntries(query),
    body: body === '' ? null : JSON.parse(body),
    contentType: body === '' ? null : headers['content-type'],
    headers: meaningful.map((name) => headers[name]),
  };
}

/** The requests that something makes, as the provider reads them. */
async function requestsOf(fake: { readonly requests: readonly FakeRequest[] }, make: () => unknown): Promise<object[]> {
  const before = fake.requests.length;
  await make();
  return fake.requests.slice(before).map(readOf);
}

const sendWith = (client: EmailTransport, one = mail) => client.send(one, client.bodyOf(one));

describe('requests to providera are those of its npm client', () => {
  let fake: FakeProviderA;
  let theirs: Resend;
  let ours: ProviderA;
  beforeAll(async () => {
    fake = await FakeProviderA.start();
    theirs = new Resend(fake.apiKey, { baseUrl: fake.url });
    ours = new ProviderA({ url: fake.url, apiKey: fake.apiKey, timeoutMs: 5_000 });
  });
  afterAll(() => fake.close());

  const payloadOf = ({ id, from, to, subject, html, text, headers }: OutgoingEmail) => {
    const tags = [{ name: idTag, value: id }];
    return { from, to: [to], subject, html, text, headers: { ...headers }, tags };
  };

  test('to send a mail', async () => {
    const wanted = await requestsOf(fake, async () => {
      const { error } = await theirs.emails.send(payloadOf(mail), { idempotencyKey: mail.id });
      expect(error).toBeNull();
    });
    // Texts of the same JSON can differ, and the key is for the text.
    fake.forgetKeys();
    expect(await requestsOf(fake, () => sendWith(ours))).toEqual(wanted);
    expect(fake.accepted).toHaveLength(2);
  });

  test('to look for one: a list, and each that may be it', async () => {
    const id = await sendWith(ours, { ...mail, id: otherId });
    const wanted = await requestsOf(fake, async () => {
      await theirs.emails.list({ limit: 100 });
      const { data } = await theirs.emails.get(id);
      expect(data).toMatchObject({ id, subject: mail.subject, to: [mail.to] });
    });
    expect(await requestsOf(fake, () => ours.find({ ...mail, id: otherId }, new Date()))).toEqual(wanted);
  });

  test('to look further, behind a page of others', async () => {
    const [newest] = fake.accepted.toReversed();
    for (let count = 0; count < 100; count++)
      fake.accepted.push({ ...newest!, id: `other ${count}`, subject: 'another one' });
    const wanted = await requestsOf(fake, async () => {
      const { data } = await theirs.emails.list({ limit: 100 });
      const after = data?.data.at(-1)?.id ?? '';
      await theirs.emails.list({ limit: 100, after });
    });
    const made = await requestsOf(fake, () => ours.find({ ...mail, subject: 'of nobody' }, new Date()));
    expect(made).toEqual(wanted);
  });

  test('to release an address', async () => {
    fake.suppressed.add(mail.to);
    const wanted = await requestsOf(fake, () => theirs.suppressions.remove(mail.to));
    fake.suppressed.add(mail.to);
    expect(await requestsOf(fake, () => ours.release(mail.to))).toEqual(wanted);
    expect(fake.suppressed.size).toBe(0);
  });
});

describe('requests to providerb are those of its npm client', () => {
  let fake: FakeProviderB;
  let theirs: ServerClient;
  let ours: ProviderB;
  beforeAll(async () => {
    fake = await FakeProviderB.start();
    theirs = new ServerClient(fake.serverToken, { useHttps: false, requestHost: new URL(fake.url).host });
    ours = new ProviderB({
      url: fake.url,
      serverToken: fake.serverToken,
      messageStream: 'outbound',
      trackOpens: true,
      trackLinks: 'HtmlAndText',
      timeoutMs: 5_000,
    });
  });
  afterAll(() => fake.close());

  const messageOf = ({ id, from, to, subject, html, text, headers, isTrackable }: OutgoingEmail) => ({
    From: from,
    To: to,
    Subject: subject,
    HtmlBody: html,
    TextBody: text,
    Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
    MessageStream: 'outbound',
    TrackOpens: isTrackable,
    TrackLinks: (isTrackable ? 'HtmlAndText' : 'None') as never,
    Metadata: { [idMetadata]: id },
  });

  test.each([true, false])('to send a mail that may be tracked: %s', async (isTrackable) => {
    const one = { ...mail, isTrackable };
    const wanted = await requestsOf(fake, () => theirs.sendEmail(messageOf(one)));
    expect(await requestsOf(fake, () => sendWith(ours, one))).toEqual(wanted);
  });

  test('to look for one', async () => {
    const search = { count: 1, offset: 0, [`metadata_${idMetadata}`]: mail.id };
    const wanted = await requestsOf(fake, async () => {
      const { Messages } = await theirs.getOutboundMessages(search);
      expect(Messages).toHaveLength(1);
    });
    expect(await requestsOf(fake, () => ours.find(mail))).toEqual(wanted);
  });

  test('to release an address', async () => {
    fake.suppress(mail.to);
    const options = { Suppressions: [{ EmailAddress: mail.to }] };
    const wanted = await requestsOf(fake, () => theirs.deleteSuppressions('outbound', options));
    fake.suppress(mail.to);
    expect(await requestsOf(fake, () => ours.release(mail.to))).toEqual(wanted);
    expect(fake.suppressed.get('outbound')?.size).toBe(0);
  });
});
