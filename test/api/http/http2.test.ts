// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, type ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import { testCertificate } from '../../kit/servers/certificates.ts';
import { eventually } from '../../kit/eventually.ts';
import { closed, http2Connection, http2Request, type Http2Answer } from '../../kit/http/http2-client.ts';
import { Gate } from '../../kit/http/misbehaving-routes.ts';
import { buildPerson, testPassword, type Person } from '../../kit/people.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const { cert, key } = testCertificate();

let gate = new Gate();
let handled = 0;

/** Stands still until the gate opens. */
const held = defineRoute({
  method: 'GET',
  url: '/test/held',
  operationId: 'held',
  tag: 'Test',
  summary: 'Held',
  description: 'Held.',
  access: 'anonymous',
  answers: { 200: Type.String() },
  produces: 'text/plain',
  errors: [],
  handle: async () => {
    handled++;
    await gate.pass();
    return { status: 200, body: 'held' };
  },
});

/** More than the buffers of both ends hold. */
const big = defineRoute({
  ...held,
  url: '/test/big',
  operationId: 'big',
  handle: () => ({ status: 200, body: 'x'.repeat(60_000_000) }),
});

const endless = defineRoute({
  ...held,
  url: '/test/endless',
  operationId: 'endless',
  handle: () => ({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    length: Number.MAX_SAFE_INTEGER,
    content: new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    }),
  }),
});

let world: World;
let person: Person;
let folder: string;
let environment: Record<string, string>;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-http2-'));
  environment = {
    CORE_SERVER_TLS_ENABLED: 'true',
    CORE_SERVER_TLS_CERTFILE: join(folder, 'server.crt'),
    CORE_SERVER_TLS_CERTKEY: join(folder, 'server.key'),
  };
  await writeFile(join(folder, 'server.crt'), cert);
  await writeFile(join(folder, 'server.key'), key, { mode: 0o600 });
  world = await openWorld({ environment, routes: [held, big, endless] });
  person = await buildPerson(world);
  ({ url } = await world.listen());
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const problem = (answer: Http2Answer) => ({ status: answer.status, code: JSON.parse(answer.text).code as string });

/** Works on a connection of its own, and closes it. */
async function connected<T>(work: (session: ClientHttp2Session) => Promise<T>, to = url): Promise<T> {
  const session = await http2Connection(to, cert);
  try {
    return await work(session);
  } finally {
    session.destroy();
  }
}

async function hurried(
  settings: Record<string, string>,
): Promise<{ readonly url: string; readonly instance: Instance }> {
  const instance = await world.openInstance({ environment: settings });
  return { url: (await instance.listen()).url, instance };
}

/** The headers of a request with a body that nobody has to be signed in for. */
async function resend(session: ClientHttp2Session): Promise<Record<string, string>> {
  const { headers } = await http2Request(session, { ':path': '/livez' });
  const token = /csrf_token=([^;]+)/.exec(String(headers['set-cookie']))?.[1] ?? '';
  return {
    ':method': 'POST',
    ':path': '/v1/resend',
    'content-type': 'application/json',
    cookie: `csrf_token=${token}`,
    'x-csrf-token': token,
  };
}

const isServing = async () =>
  expect((await connected((session) => http2Request(session, { ':path': '/livez' }))).status).toBe(200);

describe('what works as with HTTP/1.1', () => {
  /** Signs in like a browser. @returns the headers of its further requests */
  async function signIn(session: ClientHttp2Session): Promise<Record<string, string>> {
    const first = await http2Request(session, { ':path': '/livez' });
    const cookiesIn = ({ headers }: Http2Answer) =>
      ((headers['set-cookie'] as string[] | undefined) ?? []).map((cookie) => cookie.split(';', 1)[0] as string);
    const token = /csrf_token=([^;]+)/.exec(cookiesIn(first).join())?.[1] ?? '';
    const answer = await http2Request(
      session,
      {
        ':method': 'POST',
        ':path': '/v1/login',
        'content-type': 'application/json',
        cookie: cookiesIn(first).join('; '),
        'x-csrf-token': token,
      },
      JSON.stringify({ username: person.user.email, password: testPassword }),
    );
    expect(answer.status, answer.text).toBe(200);
    const cookies = cookiesIn(answer);
    return {
      cookie: cookies.join('; '),
      'x-csrf-token': /csrf_token=([^;]+)/.exec(cookies.join(';'))?.[1] ?? '',
    };
  }

  test('cookies, CSRF tokens, REST and GraphQL', async () => {
    await connected(async (session) => {
      const browser = await signIn(session);
      const json: Record<string, string> = { ...browser, 'content-type': 'application/json' };
      const body = JSON.stringify({ query: '{ self { email } }' });
      const post = { ':method': 'POST', ':path': '/graphql' };
      const answer = await http2Request(session, { ...post, ...json }, body);
      expect(JSON.parse(answer.text)).toMatchObject({ data: { self: { email: person.user.email } } });
      const { 'x-csrf-token': _token, ...forged } = json;
      expect((await http2Request(session, { ...post, ...forged }, body)).text).toContain('csrf_token_missing');
      const query = { ':path': '/graphql?query={self{email}}', ...browser };
      expect((await http2Request(session, query)).text).toContain(person.user.email);
      const made = await http2Request(
        session,
        { ':method': 'POST', ':path': '/v1/tasks', ...json },
        JSON.stringify({ title: 'over HTTP/2' }),
      );
      expect([made.status, made.headers['etag']]).toEqual([201, '"1"']);
      const location = made.headers['location'] as string;
      const known = await http2Request(session, { ':path': location, ...browser, 'if-none-match': '"1"' });
      expect([known.status, known.text]).toEqual([304, '']);
      const page = await http2Request(session, { ':path': '/graphql', accept: 'text/html', ...browser });
      expect(page.text).toContain('<title>Core server: GraphiQL</title>');
    });
  });

  test('headers of every answer, errors, HEAD, and addresses that do not exist', async () => {
    await connected(async (session) => {
      const unknown = await http2Request(session, { ':path': '/nowhere' });
      expect(problem(unknown)).toEqual({ status: 404, code: 'route_not_found' });
      const odd = await http2Request(session, { ':path': '/%zz' });
      expect(problem(odd)).toEqual({ status: 400, code: 'malformed_request' });
      const head = await http2Request(session, { ':path': '/livez', ':method': 'HEAD' });
      expect([head.status, head.text]).toEqual([200, '']);
      const connect = await http2Request(session, { ':method': 'CONNECT', ':authority': 'example.com:443' }, '');
      expect(problem(connect)).toEqual({ status: 405, code: 'method_not_allowed' });
      for (const { headers } of [unknown, odd, head, connect]) {
        expect(headers).toMatchObject({
          'x-content-type-options': 'nosniff',
          'strict-transport-security': 'max-age=31536000; includeSubDomains',
        });
        expect(headers['x-request-id']).toMatch(/\S/);
        expect(headers).not.toHaveProperty('connection');
      }
    });
  });

  test('a request names one host', async () => {
    await connected(async (session) => {
      const ask = (headers: Record<string, string>) => http2Request(session, { ':path': '/livez', ...headers });
      expect((await ask({ ':authority': 'a.example', host: 'a.example' })).status).toBe(200);
      expect(problem(await ask({ ':authority': 'a.example', host: 'b.example' }))).toEqual({
        status: 400,
        code: 'malformed_request',
      });
    });
  });

  test('many requests of one connection are answered at the same time, and one that waits holds up no other', async () => {
    await connected(async (session) => {
      gate = new Gate();
      const waiting = http2Request(session, { ':path': '/test/held' });
      const others = await Promise.all(Array.from({ length: 60 }, () => http2Request(session, { ':path': '/livez' })));
      expect(others.every(({ status }) => status === 200)).toBe(true);
      gate.open();
      expect((await waiting).text).toBe('held');
    });
  });

  test('a body too large is refused, and the connection stays', async () => {
    await connected(async (session) => {
      const answer = await http2Request(session, await resend(session), Buffer.alloc(3_000_000, 0x20));
      expect(problem(answer)).toEqual({ status: 413, code: 'body_too_large' });
      expect((await http2Request(session, { ':path': '/livez' })).status).toBe(200);
    });
  });
});

describe('limits', () => {
  test('as many requests at the same time as the server says', async () => {
    await connected(async (session) => {
      expect(session.remoteSettings).toMatchObject({ maxConcurrentStreams: 100, maxHeaderListSize: 16_384 });
      gate = new Gate();
      handled = 0;
      const asked = Array.from({ length: 150 }, () => http2Request(session, { ':path': '/test/held' }));
      await eventually(() => handled === 100);
      await pause(100);
      expect(handled).toBe(100);
      gate.open();
      expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true);
    });
  });

  test.each([
    ['a header of 20 KB', { 'x-note': 'a'.repeat(20_000) }],
    ['300 headers', Object.fromEntries(Array.from({ length: 300 }, (_none, index) => [`x-note-${index}`, 'a']))],
  ])('%s: the request is refused', async (_name, headers) => {
    await connected(async (session) => {
      await expect(http2Request(session, { ':path': '/livez', ...headers })).rejects.toThrow();
    });
    await isServing();
  });

  test('whoever takes back one request after the other loses the connection', async () => {
    const session = await http2Connection(url, cert);
    let sent = 0;
    while (!session.destroyed && sent < 20_000) {
      for (let index = 0; index < 50 && !session.destroyed && !session.closed; index++) {
        sent++;
        const stream = session.request({ ':path': '/livez' });
        stream.on('error', () => {});
        stream.once('ready', () => stream.close(constants.NGHTTP2_CANCEL));
      }
      await pause(1);
    }
    expect(sent).toBeLessThan(20_000);
    await isServing();
  });

  test('server.readheadertimeout ends a connection without a request, and server.idletimeout one that waits for its next', async () => {
    const quick = await hurried({ CORE_SERVER_READHEADERTIMEOUT: '200', CORE_SERVER_IDLETIMEOUT: '60000' });
    const silent = await http2Connection(quick.url, cert);
    await closed(silent);
    const lazy = await hurried({ CORE_SERVER_READHEADERTIMEOUT: '60000', CORE_SERVER_IDLETIMEOUT: '1000' });
    const idle = await http2Connection(lazy.url, cert);
    expect((await http2Request(idle, { ':path': '/livez' })).status).toBe(200);
    await closed(idle);
    // With a request under way it is not idle.
    await connected(async (session) => {
      gate = new Gate();
      const waiting = http2Request(session, { ':path': '/test/held' });
      await pause(2_500);
      gate.open();
      expect((await waiting).status).toBe(200);
    }, lazy.url);
  });

  test('server.readtimeout answers 408 to a body that does not come, and the connection stays', async () => {
    const quick = await hurried({ CORE_SERVER_READTIMEOUT: '300' });
    await connected(async (session) => {
      const stream = session.request(await resend(session));
      stream.on('error', () => {});
      stream.write('{"email"');
      const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
      expect(status).toBe(408);
      expect((await http2Request(session, { ':path': '/livez' })).status).toBe(200);
      await new Promise((resolve) => (stream.destroyed ? resolve(undefined) : stream.once('close', resolve)));
    }, quick.url);
  });

  test.each(['/test/big', '/test/endless'])(
    'server.writetimeout ends the stream of an answer that is not read (%s), and no other',
    async (path) => {
      // Longer than a busy machine takes for the other request.
      const quick = await hurried({ CORE_SERVER_WRITETIMEOUT: '3000' });
      await connected(async (session) => {
        const stream = session.request({ ':path': path });
        stream.on('error', () => {});
        stream.pause();
        const ended = new Promise((resolve) => stream.once('close', resolve));
        const aborted = new Promise((resolve) => stream.once('aborted', resolve));
        const other = http2Request(session, { ':path': '/livez' });
        expect((await other).status).toBe(200);
        await Promise.race([ended, aborted]);
        expect((await http2Request(session, { ':path': '/livez' })).status).toBe(200);
      }, quick.url);
    },
  );

  test('a stream that is read goes on for longer than server.writetimeout', async () => {
    // Longer than a busy machine leaves the reader, which is in this process too, without a turn.
    const writeTimeoutMs = 1_500;
    const quick = await hurried({ CORE_SERVER_WRITETIMEOUT: `${writeTimeoutMs}` });
    await connected(async (session) => {
      const stream = session.request({ ':path': '/test/endless' });
      stream.on('error', () => {});
      let taken = 0;
      stream.on('data', (chunk: Buffer) => (taken += chunk.length));
      await pause(writeTimeoutMs * 2.5);
      const before = taken;
      await eventually(() => stream.destroyed || taken > before);
      expect(stream.destroyed).toBe(false);
    }, quick.url);
  });
});

test('a stop lets requests finish, refuses new ones, and says goodbye', async () => {
  const instance = await world.openInstance();
  const listening = await instance.listen();
  const session = await http2Connection(listening.url, cert);
  gate = new Gate();
  handled = 0;
  const waiting = http2Request(session, { ':path': '/test/held' });
  await eventually(() => handled === 1);
  const stopped = listening.close();
  const refused = await http2Request(session, { ':path': '/v1/tasks' });
  expect(problem(refused)).toEqual({ status: 503, code: 'shutting_down' });
  gate.open();
  expect((await waiting).text).toBe('held');
  await stopped;
  await closed(session);
});
