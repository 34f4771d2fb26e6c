import { globSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Config } from '#config/objects/root.ts';
import { readAnswer } from '#activities/clients/integrations/provider-answer.ts';
import { providerHttp } from '#activities/clients/integrations/provider-http.ts';
import { integrationReach } from '#activities/clients/outbound/customer-reach.ts';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { shows } from '../kit/shows.ts';

let server: Server;
let port: number;
let paths: string[] = [];
let answer: (response: ServerResponse) => void = (response) => void response.end('{}');

beforeAll(async () => {
  server = createServer((request, response) => {
    paths.push(request.url ?? '');
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  paths = [];
  answer = (response) => void response.end('{}');
});

const now = () => new Date();
const reachWith = (dev: boolean, webhookallowprivateaddresses: boolean) =>
  integrationReach({ server: { dev }, workflows: { webhookallowprivateaddresses } } as Config);
/** As on a server that customers use. */
const closed = providerHttp({ reach: reachWith(false, false), now });
/** As on a development server, whose providers are fakes. */
const open = providerHttp({ reach: reachWith(true, false), now, timeoutMs: 1_000 });

const unavailable = { name: 'ProviderError', code: 'unavailable' };

test.each([
  '127.0.0.1',
  '127.1',
  '0x7f.0.0.1',
  '2130706433',
  '0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '10.0.0.1',
  '169.254.169.254',
  '[fd00::1]',
  '[64:ff9b::7f00:1]',
])('T-81: an integration asks no private address (%s), also if its settings name one', async (host) => {
  for (const scheme of ['https', 'http'])
    await expect(closed.fetch(`${scheme}://${host}:${port}/`)).rejects.toMatchObject(unavailable);
  expect(paths).toEqual([]);
});

test('workflows.webhookallowprivateaddresses lets integrations ask the own network', async () => {
  shows('workflows.webhookallowprivateaddresses');
  const opened = providerHttp({ reach: reachWith(false, true), now });
  expect((await opened.fetch(`http://127.0.0.1:${port}/allowed`)).status).toBe(200);
  expect(paths).toEqual(['/allowed']);
});

test.each([301, 302, 307, 308])('T-82: an integration follows no redirect (%s)', async (status) => {
  answer = (response) => {
    response.writeHead(status, { location: `http://127.0.0.1:${port}/elsewhere` });
    response.end();
  };
  const found = await open.fetch(`http://127.0.0.1:${port}/here`, { headers: { authorization: 'Bearer secret' } });
  expect([found.status, paths]).toEqual([status, ['/here']]);
});

test('T-85: an answer that is too large or too slow ends the request of an integration', async () => {
  answer = (response) => {
    const megabyte = Buffer.alloc(mebibyte);
    for (let sent = 0; sent < 17; sent++) response.write(megabyte);
    response.end();
  };
  await expect(open.fetch(`http://127.0.0.1:${port}/large`)).rejects.toMatchObject(unavailable);
  answer = (response) => void response.write('{');
  await expect(open.fetch(`http://127.0.0.1:${port}/slow`)).rejects.toMatchObject(unavailable);
});

test('T-80, T-83: adapters have no other way to other systems, and settings of organizations do not open it', () => {
  const folder = join(import.meta.dirname, '../../activities/clients/integrations');
  const own = new Set(['provider-http.ts', 'library-fetch.ts']);
  const others = globSync('**/*.ts', { cwd: folder }).filter((file) => !own.has(file));
  expect(others.length).toBeGreaterThan(30);
  const offences = others.filter((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return /from 'node:(?:https?|net|tls|dgram|http2)'|from 'undici'|(?<![.\w])fetch\(|globalThis\.fetch|\breach:/.test(
      text,
    );
  });
  // It opens the way as the settings of the operator say.
  expect(offences).toEqual(['provider-access.ts']);
});

test.each([
  ['in ten minutes', 600, 600_000],
  ['in a year', 31_536_000, 3_600_000],
])('a rate that is used up until %s pauses the account, for an hour at most', async (_when, seconds, pauseMs) => {
  const at = new Date();
  answer = (response) => {
    const reset = String(Math.floor(at.getTime() / 1_000) + seconds);
    response.writeHead(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset });
    response.end('{}');
  };
  const pauses: number[] = [];
  const limited = providerHttp({
    reach: reachWith(true, false),
    now: () => at,
    onPause: async (ms) => void pauses.push(ms),
  });
  expect((await limited.fetch(`http://127.0.0.1:${port}/`)).status).toBe(403);
  expect(pauses).toEqual([expect.toSatisfy((ms: number) => ms > pauseMs - 1_001 && ms <= pauseMs)]);
});

test('the error of an answer that is no JSON repeats nothing of it', async () => {
  const error = await readAnswer(new Response('sk-secret'), now()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ProviderError', code: 'invalid_answer', cause: undefined });
  expect(inspect(error)).not.toContain('sk-');
});
