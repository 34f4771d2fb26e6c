import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EncryptingCodec } from '#activities/clients/temporal/payload-codec.ts';
import { startCodecServer } from '#worker/codec/codec-server.ts';
import { testSecrets } from '../setup/secrets.ts';

const ui = 'https://temporal-ui.example';
const { Payload } = proto.temporal.api.common.v1;

let server: Server;
let url: string;
beforeAll(async () => {
  server = await startCodecServer({
    host: '127.0.0.1',
    port: 0,
    origins: [ui],
    encryptionKey: () => testSecrets.encryptionKey,
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await once(server, 'close');
});

/** A payload in the JSON form the UI has it in: bytes are base64. */
type WirePayload = { readonly metadata: Readonly<Record<string, string>>; readonly data: string };

function wire(value: unknown): WirePayload {
  return Payload.toObject(defaultPayloadConverter.toPayload(value) as proto.temporal.api.common.v1.Payload, {
    bytes: String,
  }) as WirePayload;
}

async function encrypted(value: unknown, secret: string = testSecrets.encryptionKey): Promise<WirePayload> {
  const [payload] = await new EncryptingCodec(secret).encode([defaultPayloadConverter.toPayload(value)]);
  return Payload.toObject(Payload.create(payload), { bytes: String }) as WirePayload;
}

const textOf = ({ data }: WirePayload): string => Buffer.from(data, 'base64').toString();

/** A call as the UI makes it. */
async function call(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: ui, 'x-namespace': 'default', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const parsed = (await answer.json()) as { payloads: WirePayload[]; message?: string };
  return { status: answer.status, headers: answer.headers, ...parsed };
}

test('a request without payloads is answered: the Temporal CLI sends one for a query without arguments', async () => {
  expect(await call('/encode', {})).toMatchObject({ status: 200, payloads: [] });
});

describe('a request to the codec server is refused', () => {
  test.each([
    ['no JSON', 'payloads'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['an object of another form', '{"payload":[]}'],
    ['payloads that are no list', '{"payloads":5}'],
    ['a payload that is not an object', '{"payloads":["x"]}'],
    ['bytes that are a length', '{"payloads":[{"data":{"length":1000000000}}]}'],
    ['bytes of metadata that are a length', '{"payloads":[{"metadata":{"encoding":{"length":1000000000}}}]}'],
    ['bytes that are a list', '{"payloads":[{"data":[1,2,3]}]}'],
    ['metadata that is not an object', '{"payloads":[{"metadata":"json/plain","data":""}]}'],
    ['bytes that are not base64', '{"payloads":[{"metadata":{"encoding":"%%%"},"data":"%%%"}]}'],
  ])('%s', async (_what, body) => {
    for (const path of ['/decode', '/encode']) {
      const answer = await call(path, body);
      expect(answer.status).toBe(400);
      expect(answer.message).toBeTypeOf('string');
    }
  });

  test('a payload of another key, by the id of that key', async () => {
    const foreign = await encrypted('secret', 'another-encryption-key-0123456789abcdef');
    const answer = await call('/decode', { payloads: [foreign] });
    expect(answer.status).toBe(400);
    expect(answer.message).toContain(Buffer.from(foreign.metadata['encryption-key-id'] ?? '', 'base64').toString());
    expect(answer.message).toContain('sessions.encryptionkey');
  });

  test('a damaged payload', async () => {
    const whole = await encrypted('secret');
    const data = Buffer.from(whole.data, 'base64');
    data[20] = (data[20] as number) ^ 1;
    const answer = await call('/decode', { payloads: [{ ...whole, data: data.toString('base64') }] });
    expect(answer).toMatchObject({ status: 400, message: expect.stringContaining('damaged') });
  });

  test('a body larger than any page of a history', async () => {
    const answer = await call('/decode', `{"payloads":[{"data":"${'A'.repeat(8 * 1024 * 1024)}"}]}`);
    expect(answer.status).toBe(413);
  });

  test.each(['https://evil.example', `${ui}.evil.example`, 'http://temporal-ui.example', 'null'])(
    'the origin %s, which gets no payload and no permission',
    async (origin) => {
      const answer = await call('/decode', { payloads: [await encrypted('secret')] }, { origin });
      expect(answer.status).toBe(403);
      expect(answer.payloads).toBeUndefined();
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const preflight = await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin } });
      expect(preflight.status).toBe(403);
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  test('other methods and addresses', async () => {
    expect((await fetch(`${url}/decode`)).status).toBe(404);
    expect((await fetch(`${url}/`, { method: 'POST', body: '{}' })).status).toBe(404);
  });
});

test('the UI may ask, with its namespace and its authorization', async () => {
  const preflight = await fetch(`${url}/decode`, {
    method: 'OPTIONS',
    headers: {
      origin: ui,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-namespace,authorization',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe(ui);
  expect(preflight.headers.get('access-control-allow-credentials')).toBe('true');
  expect(preflight.headers.get('vary')).toBe('origin');
  const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ');
  expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x-namespace', 'authorization']));
});

test('the codec server decodes what a workflow stored, in order, and leaves alone what is not encrypted', async () => {
  const plain = wire('signal of an operator');
  const answer = await call('/decode', { payloads: [await encrypted({ a: 1 }), plain, await encrypted('two')] });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-origin')).toBe(ui);
  expect(answer.payloads.map(textOf)).toEqual(['{"a":1}', '"signal of an operator"', '"two"']);
  expect(answer.payloads[1]).toEqual(plain);
});

test('the codec server encodes what an operator enters, so that a worker can read it', async () => {
  const { payloads } = await call('/default/encode', { payloads: [wire('hidden words')] });
  expect(JSON.stringify(payloads.map(textOf))).not.toContain('hidden words');
  const decoded = await call('/default/decode', { payloads });
  expect(decoded.payloads.map(textOf)).toEqual(['"hidden words"']);
});

test('the codec server makes nothing of nothing', async () => {
  expect((await call('/decode', { payloads: [] })).payloads).toEqual([]);
});
