// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { statusOf } from '#entities/kit/base/errors.ts';
import { Type } from 'typebox';
import { defineRoute } from '#api/http/route.ts';
import { eventually } from '../../kit/eventually.ts';
import { Gate } from '../../kit/http/misbehaving-routes.ts';
import { exchange, parseAnswer, RawConnection, type RawAnswer } from '../../kit/http/raw-http.ts';
import { openWorld, type World } from '../../kit/world.ts';

let gate = new Gate();
let handled: string[] = [];

/** Stands still until the gate opens. */
const held = defineRoute({
  method: 'GET',
  url: '/test/held/:name',
  operationId: 'held',
  tag: 'Test',
  summary: 'Held',
  description: 'Held.',
  access: 'anonymous',
  params: Type.Object({ name: Type.String() }),
  answers: { 200: Type.String() },
  produces: 'text/plain',
  errors: [],
  handle: async ({ params }) => {
    handled.push(params['name'] ?? '');
    await gate.pass();
    return { status: 200, body: `answer ${params['name']}` };
  },
});

let world: World;
let url: string;

beforeAll(async () => {
  world = await openWorld({
    routes: [held],
    environment: { CORE_SERVER_READTIMEOUT: '3000', CORE_SERVER_READHEADERTIMEOUT: '3000' },
  });
  ({ url } = await world.listen());
});
afterAll(() => world.close());

function expectRawProblem(answer: RawAnswer, code: ErrorCode): void {
  expect(answer.status, answer.text).toBe(statusOf(code));
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  expect(JSON.parse(answer.body)).toMatchObject({
    code,
    title: errorCatalogue[code].title,
    status: statusOf(code),
    request_id: answer.headers['x-request-id'],
  });
}

const host = 'Host: x\r\nConnection: close\r\n';

describe('bytes that are no request', () => {
  test.each<[string, string, ErrorCode]>([
    ['noise', 'GARBAGE\r\n\r\n', 'malformed_request'],
    ['binary noise', '\0\x01\x02\xff\xfe\r\n\r\n', 'malformed_request'],
    ['a TLS greeting', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 'malformed_request'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'malformed_request'],
    ['an unknown method', `BREW /livez HTTP/1.1\r\n${host}\r\n`, 'malformed_request'],
    ['a version that does not exist', `GET /livez HTTP/9.9\r\n${host}\r\n`, 'malformed_request'],
    ['NUL in the address', `GET /liv\0ez HTTP/1.1\r\n${host}\r\n`, 'malformed_request'],
    ['NUL in a header', `GET /livez HTTP/1.1\r\nX-Note: a\0b\r\n${host}\r\n`, 'malformed_request'],
    ['a header without a name', `GET /livez HTTP/1.1\r\n: x\r\n${host}\r\n`, 'malformed_request'],
    ['a space in the name of a header', `GET /livez HTTP/1.1\r\nX Note: x\r\n${host}\r\n`, 'malformed_request'],
    [
      'two lengths',
      `POST /v1/login HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n${host}\r\n{}`,
      'malformed_request',
    ],
    ['a negative length', `POST /v1/login HTTP/1.1\r\nContent-Length: -1\r\n${host}\r\n{}`, 'malformed_request'],
    [
      'a length and chunks',
      `POST /v1/login HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${host}\r\n0\r\n\r\n`,
      'malformed_request',
    ],
    [
      'a chunk without a size',
      `POST /v1/resend HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${host}\r\nzz\r\n`,
      'malformed_request',
    ],
    [
      'an unknown transfer coding',
      `POST /v1/resend HTTP/1.1\r\nTransfer-Encoding: x\r\n${host}\r\nabc`,
      'malformed_request',
    ],
    ['a header of 20 KB', `GET /livez HTTP/1.1\r\nX-Note: ${'a'.repeat(20_000)}\r\n${host}\r\n`, 'headers_too_large'],
    ['an address of 20 KB', `GET /livez?${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 'headers_too_large'],
    [
      'a thousand headers',
      `GET /livez HTTP/1.1\r\n${'X-Note: aaaaaaaaaa\r\n'.repeat(1_000)}${host}\r\n`,
      'headers_too_large',
    ],
    ['CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`, 'method_not_allowed'],
  ])('%s', async (_name, bytes, code) => {
    expectRawProblem(await exchange(url, bytes), code);
  });
});

describe('requests at the edge of HTTP', () => {
  test.each<[string, string, ErrorCode]>([
    ['HTTP/1.1 without Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 'malformed_request'],
    ['two Host headers', `GET /livez HTTP/1.1\r\nHost: y\r\n${host}\r\n`, 'malformed_request'],
    ['two Host headers for one host', `GET /livez HTTP/1.1\r\nhost: x\r\n${host}\r\n`, 'malformed_request'],
    ['a broken address', `GET /%zz HTTP/1.1\r\n${host}\r\n`, 'malformed_request'],
    ['raw bytes in the address', `GET /\xff\xfe HTTP/1.1\r\n${host}\r\n`, 'malformed_request'],
    ['an address as for a proxy', `GET http://evil.example.com/nowhere HTTP/1.1\r\n${host}\r\n`, 'route_not_found'],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${host}\r\n`, 'method_not_allowed'],
    ['another method', `TRACE /livez HTTP/1.1\r\n${host}\r\n`, 'method_not_allowed'],
    ['a method of WebDAV', `PROPFIND /livez HTTP/1.1\r\n${host}\r\n`, 'method_not_allowed'],
    [
      'ten megabytes announced',
      `POST /v1/resend HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer x\r\nContent-Length: 10000000\r\n${host}\r\n`,
      'unauthenticated',
    ],
  ])('%s', async (_name, bytes, code) => {
    expectRawProblem(await exchange(url, bytes), code);
  });

  test('an address in absolute form is the address behind its host', async () => {
    expect((await exchange(url, `GET http://x/livez HTTP/1.1\r\n${host}\r\n`)).status).toBe(200);
  });

  test('HTTP/1.0 without Host is served', async () => {
    expect((await exchange(url, 'GET /livez HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  test('an unknown expectation is not our affair', async () => {
    expect((await exchange(url, `GET /livez HTTP/1.1\r\nExpect: tea\r\n${host}\r\n`)).status).toBe(200);
  });

  test('a wish for another protocol is ignored', async () => {
    const bytes = `GET /livez HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
    expect((await exchange(url, bytes)).status).toBe(200);
  });

  test('a body too large in chunks is refused while it comes', async () => {
    const connection = new RawConnection(url);
    const cookie = await csrfCookie();
    connection.write(
      `POST /v1/resend HTTP/1.1\r\nContent-Type: application/json\r\nCookie: csrf_token=${cookie}\r\nX-Csrf-Token: ${cookie}\r\nTransfer-Encoding: chunked\r\n${host}\r\n`,
    );
    const chunk = `10000\r\n${'x'.repeat(0x1_00_00)}\r\n`;
    for (let sent = 0; sent < 20; sent++) connection.write(chunk);
    expectRawProblem(parseAnswer(await connection.untilClosed()), 'body_too_large');
  });

  test('noise behind a request ends the connection without touching its answer', async () => {
    const { text } = await exchange(url, 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\nNOISE\r\n\r\n');
    const first = parseAnswer(text);
    expect([200, 400]).toContain(first.status);
    expect(text.match(/HTTP\/1\.1 /g)?.length).toBeLessThanOrEqual(2);
  });

  test('half a request followed by silence or an end leaves nothing behind', async () => {
    for (const bytes of ['GET /liv', 'POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"user']) {
      const connection = new RawConnection(url);
      connection.write(bytes);
      connection.end();
    }
    expect((await exchange(url, `GET /livez HTTP/1.1\r\n${host}\r\n`)).status).toBe(200);
  });
});

describe('requests that are sent without waiting for answers', () => {
  const heldRequests = (count: number) =>
    Array.from({ length: count }, (_, n) => `GET /test/held/${n} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');

  test('are handled one after the other', async () => {
    gate = new Gate();
    handled = [];
    const connection = new RawConnection(url);
    connection.write(`${heldRequests(20)}GET /livez HTTP/1.1\r\n${host}\r\n`);
    await eventually(() => gate.waiting === 1);
    // All of them have been parsed: the answer of another connection comes later.
    expect((await exchange(url, `GET /livez HTTP/1.1\r\n${host}\r\n`)).status).toBe(200);
    expect(handled).toEqual(['0']);
    gate.open();
    const text = await connection.untilClosed();
    expect(text.match(/answer \d+/g)).toEqual(Array.from({ length: 20 }, (_, n) => `answer ${n}`));
    expect(handled).toHaveLength(20);
  });

  test('close the connection when they are too many', async () => {
    gate = new Gate();
    handled = [];
    const connection = new RawConnection(url);
    connection.write(heldRequests(200));
    expect(await connection.untilClosed()).toBe('');
    gate.open();
    expect(handled).toEqual(['0']);
  });
});

test('the body of a request that is refused early is not read on', async () => {
  const sockets: Socket[] = [];
  const onConnection = (socket: Socket) => void sockets.push(socket);
  world.api.app.server.on('connection', onConnection);
  for (const length of ['Content-Length: 50000000', 'Transfer-Encoding: chunked']) {
    const connection = new RawConnection(url);
    connection.write(`POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
    await eventually(() => connection.received.includes('unauthenticated'));
    const chunk = `100000\r\n${'x'.repeat(0x10_00_00)}\r\n`;
    for (let sent = 0; sent < 40 && connection.isOpen; sent++) connection.write(chunk);
    expect(parseAnswer(await connection.untilClosed()).headers['connection']).toBe('close');
  }
  world.api.app.server.off('connection', onConnection);
  expect(sockets.map(({ bytesRead }) => bytesRead < 5_000_000)).toEqual([true, true]);
});

test('a small body of a request that is refused early leaves the connection open', async () => {
  const connection = new RawConnection(url);
  const bytes = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
  connection.write(bytes);
  await eventually(() => connection.received.includes('unauthenticated'));
  connection.write(`GET /livez HTTP/1.1\r\n${host}\r\n`);
  expect(await connection.untilClosed()).toContain('HTTP/1.1 200');
});

async function csrfCookie(): Promise<string> {
  const { headers } = await exchange(url, `GET /livez HTTP/1.1\r\n${host}\r\n`);
  return /csrf_token=([^;]+)/.exec(headers['set-cookie'] ?? '')?.[1] ?? '';
}

test('none of this was a failure of ours', () => {
  expect(world.logs.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
});
