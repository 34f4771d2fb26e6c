import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import { contentDisposition } from '#api/http/streams/content-disposition.ts';
import { fileAnswer } from '#api/http/streams/file-answer.ts';
import { eventually } from '../../kit/eventually.ts';
import { parseAnswer, RawConnection } from '../../kit/http/raw-http.ts';
import { openWorld, type World } from '../../kit/world.ts';

const content = Buffer.from('0123456789');

/** Sources of a file of ten bytes, by name. */
const sources: Record<string, (bytes: Buffer) => Readable> = {
  whole: (bytes) => Readable.from([bytes]),
  short: (bytes) => Readable.from([bytes.subarray(0, -1)]),
  long: (bytes) => Readable.from([bytes, Buffer.from('HTTP/1.1 200 OK')]),
  'broken later': (bytes) =>
    Readable.from(
      (async function* () {
        yield bytes.subarray(0, 4);
        throw new Error('the disk is gone');
      })(),
    ),
  'broken at once': () =>
    Readable.from(
      // oxlint-disable-next-line require-yield -- it breaks before its first byte
      (async function* () {
        throw new Error('the disk is gone');
      })(),
    ),
};

const opened: Readable[] = [];

const served = defineRoute({
  method: 'GET',
  url: '/test/served',
  operationId: 'served',
  tag: 'Test',
  summary: 'File',
  description: 'File.',
  access: 'public',
  query: Type.Object({
    source: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    inline: Type.Optional(Type.Boolean()),
    empty: Type.Optional(Type.Boolean()),
  }),
  answers: { 200: Type.String() },
  errors: ['range_not_satisfiable'],
  handle: ({ request, query }) => {
    const { source = 'whole', type = 'text/plain', name = 'a.txt', inline, empty } = query as Record<string, string>;
    const bytes = empty ? Buffer.alloc(0) : content;
    const file = { name, contentType: type, sizeBytes: bytes.length, sha256: hash('sha256', bytes, 'buffer') };
    return fileAnswer(request, file, inline ? 'inline' : 'attachment', async (range) => {
      const stream = sources[source]?.(range ? bytes.subarray(range.first, range.last + 1) : bytes);
      if (!stream) throw new Error(`no source ${source}`);
      opened.push(stream);
      return stream;
    });
  },
});

/** A file without end of which each client takes as much as it likes. */
const endless = defineRoute({
  ...served,
  url: '/test/endless',
  operationId: 'endless',
  query: Type.Object({ source: Type.Union([Type.Literal('fast'), Type.Literal('stalled')]) }),
  handle: ({ query }) => {
    const stream = new Readable({
      read() {
        if (query['source'] === 'fast') this.push(Buffer.alloc(65_536));
      },
    });
    opened.push(stream);
    return { status: 200, headers: { 'content-type': 'text/plain' }, length: Number.MAX_SAFE_INTEGER, content: stream };
  },
});

let world: World;
let url: string;

beforeAll(async () => {
  world = await openWorld({ routes: [served, endless], environment: { CORE_SERVER_WRITETIMEOUT: '60000' } });
  ({ url } = await world.listen());
});
afterAll(() => world.close());

const get = (query = '', headers: Record<string, string> = {}) => fetch(`${url}/test/served?${query}`, { headers });

describe('the answer to a download', () => {
  test('the whole file, with its digest, and nothing that a browser or a cache may make of it', async () => {
    const answer = await get();
    expect([answer.status, await answer.text()]).toEqual([200, '0123456789']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-length': '10',
      'content-type': 'text/plain',
      'accept-ranges': 'bytes',
      etag: `"${hash('sha256', content, 'base64url')}"`,
      'repr-digest': `sha-256=:${hash('sha256', content, 'base64')}:`,
      'content-disposition': 'attachment; filename=a.txt',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
    });
  });

  test.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
    ['bytes=0-', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99999999999999999999', 206, '89', 'bytes 8-9/10'],
    ['bytes=-99999999999999999999', 206, '0123456789', 'bytes 0-9/10'],
    ['BYTES=1-2', 206, '12', 'bytes 1-2/10'],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=10-12', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
    ['bytes=10-,12-', 416, undefined, 'bytes */10'],
    // One of several is satisfiable, or is the only one.
    ['bytes=0-1,10-', 206, '01', 'bytes 0-1/10'],
    ['bytes=,8-', 206, '89', 'bytes 8-9/10'],
    // Several satisfiable ranges, and malformed ones, get the whole file.
    ['bytes=0-1,x', 200, '0123456789', null],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['bytes=5-2', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
    ['bytes=a-b', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
    ['bytes=0x1-2', 200, '0123456789', null],
  ])('Range: %s gets %i', async (range, status, text, contentRange) => {
    const answer = await get('', { range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange]);
    const body = await answer.text();
    if (text === undefined) expect(JSON.parse(body)).toMatchObject({ code: 'range_not_satisfiable' });
    else expect([body, answer.headers.get('content-length')]).toEqual([text, String(text.length)]);
  });

  test('an empty file has no first byte, and is its own end', async () => {
    expect((await get('empty=true')).status).toBe(200);
    expect((await get('empty=true', { range: 'bytes=0-' })).headers.get('content-range')).toBe('bytes */0');
    expect((await get('empty=true', { range: 'bytes=-1' })).status).toBe(200);
  });

  test('If-Range with another entity tag, a weak one or a date gets the whole', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    const statusOf = async (ifRange: string) => (await get('', { range: 'bytes=0-1', 'if-range': ifRange })).status;
    expect(await statusOf(etag)).toBe(206);
    for (const other of ['"another"', `W/${etag}`, 'Wed, 21 Oct 2015 07:28:00 GMT'])
      expect(await statusOf(other)).toBe(200);
  });

  test('If-None-Match with the entity tag gets 304, and nothing is read', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    const before = opened.length;
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get('', { 'if-none-match': tags, range: 'bytes=0-1' });
      expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect(opened.length).toBe(before);
    expect((await get('', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('HEAD gets the headers, and nothing is read', async () => {
    const before = opened.length;
    const answer = await fetch(`${url}/test/served`, { method: 'HEAD', headers: { range: 'bytes=0-1' } });
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '10', '']);
    expect(opened.length).toBe(before);
  });

  test.each([
    ['application/pdf', true, 'inline', null],
    ['image/png', true, 'inline', "default-src 'none'; sandbox"],
    ['image/jpeg', true, 'inline', "default-src 'none'; sandbox"],
    ['image/gif', true, 'inline', "default-src 'none'; sandbox"],
    ['image/webp', true, 'inline', "default-src 'none'; sandbox"],
    ['application/pdf', false, 'attachment', "default-src 'none'; sandbox"],
    ['image/svg+xml', true, 'attachment', "default-src 'none'; sandbox"],
    ['text/html', true, 'attachment', "default-src 'none'; sandbox"],
    ['text/plain', true, 'attachment', "default-src 'none'; sandbox"],
    ['application/pdf;x=y', true, 'attachment', "default-src 'none'; sandbox"],
  ])('%s, inline asked for: %s, is sent as %s', async (type, inline, disposition, policy) => {
    const { headers } = await get(new URLSearchParams({ type, inline: String(inline) }).toString());
    expect(headers.get('content-disposition')?.split(';')[0]).toBe(disposition);
    expect([headers.get('content-security-policy'), headers.get('x-content-type-options')]).toEqual([
      policy,
      'nosniff',
    ]);
  });

  test.each([
    ['report.pdf', 'filename=report.pdf'],
    ['annual report.pdf', 'filename="annual report.pdf"'],
    ['Größe 100%.pdf', `filename="Gro__e 100_.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20100%25.pdf`],
    [`a"b\\c/d.txt`, `filename=a_b_c_d.txt; filename*=UTF-8''a%22b%5Cc%2Fd.txt`],
    ["it's (1)*.txt", `filename="it's (1)*.txt"`],
    ['a\r\nSet-Cookie: x', `filename="a__Set-Cookie: x"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x`],
    ['\ud800.txt', `filename=_.txt; filename*=UTF-8''%EF%BF%BD.txt`],
  ])('the name %j', (name, expected) => {
    expect(contentDisposition('attachment', name)).toBe(`attachment; ${expected}`);
  });
});

describe('a source that breaks off', () => {
  test.each(['short', 'long', 'broken later'])('aborts the answer: %s', async (source) => {
    await expect(get(`source=${encodeURIComponent(source)}`).then((answer) => answer.text())).rejects.toThrow();
    expect((await get()).status).toBe(200);
  });

  test('before its first byte gets an error without the headers of the file', async () => {
    const answer = await get('source=broken+at+once');
    expect([answer.status, (await answer.json()).code]).toEqual([500, 'internal']);
    for (const name of ['etag', 'repr-digest', 'content-disposition', 'accept-ranges'])
      expect(answer.headers.get(name), name).toBeNull();
  });
});

describe('server.writetimeout of a file counts from the last byte that the client has taken', () => {
  const request = (source: string) => `GET /test/endless?source=${source} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const hurried = async () => {
    const instance = await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: '300' } });
    return (await instance.listen()).url;
  };

  test('a client that stops reading is cut off, and the source closed', async () => {
    const connection = new RawConnection(await hurried());
    connection.stopReading();
    connection.write(request('fast'));
    await eventually(() => opened.at(-1)?.destroyed === true);
    connection.end();
  });

  test('a source that stands still is cut off', async () => {
    const connection = new RawConnection(await hurried());
    connection.write(request('stalled'));
    await connection.untilClosed();
    expect(parseAnswer(connection.received).body).toBe('');
    await eventually(() => opened.at(-1)?.destroyed === true);
  });

  test('a client that goes on reading gets more for longer than that time', async () => {
    const url = await hurried();
    // A machine that stands still for that time lets the client read nothing in it, so there is another try.
    await eventually(async () => {
      const connection = new RawConnection(url);
      connection.write(request('fast'));
      await pause(1_000);
      const before = connection.received.length;
      await Promise.race([eventually(() => connection.received.length > before), connection.untilClosed()]);
      const { isOpen } = connection;
      connection.end();
      await eventually(() => opened.at(-1)?.destroyed === true);
      return isOpen;
    });
  });
});
