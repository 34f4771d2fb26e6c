// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalogue } from '#entities/kit/base/error-catalogue.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { exchange, parseAnswer, RawConnection, type RawAnswer } from '../../kit/http/raw-http.ts';
import { openWorld, type World } from '../../kit/world.ts';

// Requests that are only there to hurt, on a real port: each is answered in bounded time, and others are answered meanwhile.

let world: World;
let person: Person;
let url: string;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  token = (await signedIn(world, person)).cookies.get('access_token') ?? '';
  ({ url } = await world.listen());
});
afterAll(() => world.close());

const close = 'Host: x\r\nConnection: close\r\n';
const bearer = () => `${close}Authorization: Bearer ${token}\r\n`;

/** It is refused with a code of the catalogue, and says nothing of the installation. */
function expectRefused(answer: RawAnswer, about: string): void {
  expect(answer.status, `${about}: ${answer.text.slice(0, 500)}`).toBeGreaterThanOrEqual(400);
  expect(answer.status, `${about}: ${answer.text.slice(0, 500)}`).toBeLessThan(500);
  const body = JSON.parse(answer.body) as { code?: string; errors?: { extensions: { code: string } }[] };
  const code = body.code ?? body.errors?.[0]?.extensions.code;
  expect(Object.keys(errorCatalogue), about).toContain(code);
  expect(answer.text.slice(0, 20_000).length, `${about.slice(0, 50)}: ${answer.text.slice(0, 1_500)}`).toBeLessThan(
    5_000,
  );
}

/** Somebody else is answered. */
async function expectOthersAnswered(): Promise<void> {
  expect((await exchange(url, `GET /livez HTTP/1.1\r\n${close}\r\n`)).status).toBe(200);
}

describe('an address with a trick in it leads nowhere', () => {
  // What they would lead to is closed to whoever is not signed in; with a token, each is an address that does not exist.
  test.each([
    '/livez/../v1/tasks',
    '/livez/..%2fv1/tasks',
    '/livez/%2e%2e/v1/tasks',
    '/livez/..;/v1/tasks',
    '/livez;/../v1/tasks',
    '//v1/tasks',
    '/v1//tasks',
    '/./v1/tasks',
    '/v1/./tasks',
    '/v1/tasks/.',
    '/v1/tasks/',
    '/v1/tasks%2f',
    '/v1%2ftasks',
    '/v1/tasks%20',
    '/v1/tasks;a=b',
    '/v1/tasks.json',
    '/V1/TASKS',
    '/v1\\tasks',
    '/v1/tasks%5c',
    '/v1/ｔasks',
    '/%76%31/tasks/%00',
    '/v1/tasks%0d%0aX-Injected:%20yes',
    '/v1/%74asks/..%c0%af..%c0%afetc/passwd',
    '/etc/passwd',
    '/docs/../../../../etc/passwd',
    '/docs/..%2f..%2f..%2fetc%2fpasswd',
    '/graphiql/../../package.json',
    `/${'a/'.repeat(4_000)}`,
    `/v1/tasks/${'a'.repeat(8_000)}`,
    `/v1/tasks?${'a=b&'.repeat(2_000)}`,
    `/v1/tasks?title=${'%E2%82%AC'.repeat(800)}`,
  ])('%#', async (path) => {
    const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${bearer()}\r\n`, 'utf8');
    const answer = await exchange(url, bytes);
    expectRefused(answer, path);
    expect(answer.headers).not.toHaveProperty('x-injected');
  });

  test('and encoded letters are the letters', async () => {
    expect((await exchange(url, `GET /v1/%74asks HTTP/1.1\r\n${bearer()}\r\n`)).status).toBe(200);
    expect((await exchange(url, `GET /v1/%74asks HTTP/1.1\r\n${close}\r\n`)).status).toBe(401);
  });
});

describe('a method or a body that an address does not have', () => {
  test.each(['BREW', 'GETT', 'get', 'TRACE', 'TRACK', 'DEBUG', 'PURGE', 'SEARCH', 'X'.repeat(5_000)])(
    'is refused: %s',
    async (method) => {
      expectRefused(await exchange(url, `${method} /v1/tasks HTTP/1.1\r\n${bearer()}\r\n`), method);
    },
  );

  test('a method in a header is none', async () => {
    const bytes = `GET /v1/tasks HTTP/1.1\r\nX-HTTP-Method-Override: DELETE\r\nX-Method-Override: POST\r\n${bearer()}\r\n`;
    expect((await exchange(url, bytes)).status).toBe(200);
  });

  test('a body of a GET is not read as input', async () => {
    const body = JSON.stringify({ query: 'mutation { createTask(input: { title: "by GET" }) { createdId } }' });
    const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${bearer()}\r\n${body}`;
    expectRefused(await exchange(url, `GET /graphql HTTP/1.1\r\n${head}`), 'GraphQL');
    expect((await exchange(url, `GET /v1/tasks HTTP/1.1\r\n${head}`)).body).not.toContain('by GET');
  });
});

describe('headers', () => {
  const many = (count: number) => `GET /v1/tasks HTTP/1.1\r\n${'a:b\r\n'.repeat(count)}${bearer()}\r\n`;

  test('a hundred thousand are refused', async () => {
    const started = performance.now();
    expectRefused(await exchange(url, many(100_000)), 'headers');
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('as many as fit into 16 KB are refused, too: none is left out silently', async () => {
    for (const count of [1_000, 1_999, 2_000, 2_001, 2_500]) {
      const answer = await exchange(url, many(count));
      expect(answer.status, `${count}: ${answer.text}`).toBe(431);
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'headers_too_large' });
    }
    expect((await exchange(url, many(100))).status).toBe(200);
  });
});

describe('a client that is slow', () => {
  const limits = { CORE_SERVER_READHEADERTIMEOUT: '500', CORE_SERVER_READTIMEOUT: '1000' };

  /** Sends one byte after the other until the server ends the connection. */
  async function drip(at: string, bytes: string): Promise<RawAnswer> {
    const connection = new RawConnection(at);
    for (let sent = 0; connection.isOpen && sent < bytes.length; sent++) {
      connection.write(bytes.charAt(sent));
      await pause(20);
    }
    return parseAnswer(await connection.untilClosed());
  }

  test('with its headers or its body is cut off, however often it sends a byte, and others are answered meanwhile', async () => {
    const hurried = await world.openInstance({ environment: limits });
    const { url: at } = await hurried.listen();
    const csrf = /csrf_token=([^;]+)/.exec((await fetch(`${at}/livez`)).headers.get('set-cookie') ?? '')?.[1] ?? '';
    const headers = `GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ${'a'.repeat(2_000)}`;
    const body = `POST /v1/resend HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\nCookie: csrf_token=${csrf}\r\nX-Csrf-Token: ${csrf}\r\n\r\n`;
    const slowHeaders = Array.from({ length: 50 }, () => drip(at, headers));
    const slowBodies = Array.from({ length: 50 }, async () => {
      const connection = new RawConnection(at);
      connection.write(body);
      for (let sent = 0; connection.isOpen && sent < 2_000; sent++) {
        connection.write(' ');
        await pause(20);
      }
      return parseAnswer(await connection.untilClosed());
    });
    for (let asked = 0; asked < 5; asked++) {
      expect((await fetch(`${at}/livez`)).status).toBe(200);
      await pause(50);
    }
    for (const answer of await Promise.all([...slowHeaders, ...slowBodies])) {
      expect(answer.status, answer.text).toBe(408);
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'request_timeout' });
    }
  });

  test('that says that it sends no more gets its answer', async () => {
    const connection = new RawConnection(url);
    connection.write(`GET /docs/errors HTTP/1.1\r\nHost: x\r\n\r\n`);
    connection.finish();
    const answer = parseAnswer(await connection.untilClosed());
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('</html>');
  });

  test.each([
    ['nothing', ''],
    ['half a request line', 'GET /liv'],
    ['half a header', 'GET /livez HTTP/1.1\r\nHost'],
    ['half a body', `POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"user`],
    ['half a chunk', `POST /v1/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"user`],
  ])('that ends after %s loses its connection', async (_name, bytes) => {
    const connection = new RawConnection(url);
    connection.write(bytes);
    connection.finish();
    const text = await connection.untilClosed(20_000);
    if (text !== '') expectRefused(parseAnswer(text), bytes);
    await expectOthersAnswered();
  });
});

describe('a form', () => {
  const part = (headers: string, content = 'x') => `${headers}\r\n\r\n${content}\r\n`;
  const file = 'Content-Disposition: form-data; name="uploadFile"; filename="notes.txt"';
  const form = (parts: readonly string[], boundary = 'b') =>
    `${parts.map((each) => `--${boundary}\r\n${each}`).join('')}--${boundary}--\r\n`;

  test.each<[string, string, string]>([
    ['a boundary that does not occur', 'other', form([part(file)])],
    ['a boundary of 10,000 characters', 'b'.repeat(10_000), form([part(file)], 'b'.repeat(10_000))],
    ['an empty boundary', '', form([part(file)])],
    ['a boundary in quotes that do not end', '"b', form([part(file)])],
    ['bytes before the first boundary', 'b', 'x'.repeat(500_000)],
    ['no end', 'b', form([part(file)]).slice(0, -8)],
    [
      'ten thousand parts',
      'b',
      form(Array.from({ length: 10_000 }, (_each, n) => part(file.replace('uploadFile', `f${n}`)))),
    ],
    ['a part with a header of 100 KB', 'b', form([part(`${file}\r\nX-Note: ${'a'.repeat(100_000)}`)])],
    ['a part with 10,000 headers', 'b', form([part(`${file}${'\r\nX: y'.repeat(10_000)}`)])],
    ['a part without a disposition', 'b', form([part('Content-Type: text/plain')])],
    ['a part that is a form', 'b', form([part(`${file}\r\nContent-Type: multipart/mixed; boundary=c`, '--c--')])],
    ['a transfer encoding of a part', 'b', form([part(`${file}\r\nContent-Transfer-Encoding: base64`, '!!!!')])],
    ['a name of a field of 10 KB', 'b', form([part(file.replace('uploadFile', 'x'.repeat(10_000)))])],
    ...[
      '../../etc/passwd',
      '..\\..\\win.ini',
      '/',
      '.',
      '..',
      'a\0b.txt',
      'CON\u202etxt.exe',
      'x'.repeat(5_000),
      '\xff\xfe.txt',
    ].map((name): [string, string, string] => [
      `a file named ${JSON.stringify(name.slice(0, 30))}`,
      'b',
      form([part(`Content-Disposition: form-data; name="uploadFile"; filename="${name}"`)]),
    ]),
  ])('with %s is answered, and leaves no file outside of the store', async (name, boundary, body) => {
    const bytes = Buffer.from(body, 'utf8');
    const head = `POST /v1/uploads HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${bytes.length}\r\n${bearer()}\r\n`;
    const answer = await exchange(url, Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
    if (answer.status < 300) {
      for (const stored of (JSON.parse(answer.body) as { uploads: { name: string }[] }).uploads)
        expect(
          ['/', '\\'].some((sign) => stored.name.includes(sign)),
          stored.name,
        ).toBe(false);
    } else expectRefused(answer, name);
    await expectOthersAnswered();
  });
});

test('none of this was a failure of the server', () => {
  expect(world.logs.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
});
