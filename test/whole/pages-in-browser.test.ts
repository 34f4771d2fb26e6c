import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { Browser } from '../kit/browser.ts';
import { notingListener } from '../kit/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, testPassword, type Person } from '../kit/people.ts';
import { openWorld, type Instance, type World } from '../kit/world.ts';

let world: World;
let instance: Instance;
let browser: Browser | string;
let owner: Person;
/** The server, as `localhost`. */
let origin: string;
let servers: Server[] = [];
/** Pages of two other origins: the configuration names the first alone. */
let allowed: string;
let foreign: string;

/** A server whose pages are empty: what they do is up to the test. */
async function emptyPages(): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title><body></body>'),
  );
  servers = [...servers, server];
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  browser = await Browser.start();
  if (typeof browser === 'string') return;
  world = await openWorld({ worker: true, listeners: [notingListener('noting', ['task.created'], () => {})] });
  [allowed, foreign] = await Promise.all([emptyPages(), emptyPages()]);
  instance = await world.openInstance({
    temporalUi: 'https://temporal.example',
    environment: { CORE_SERVER_CORS_ENABLED: 'true', CORE_SERVER_CORS_ALLOWORIGINS: allowed },
  });
  const { url } = await instance.listen();
  origin = `http://localhost:${new URL(url).port}`;
  owner = await buildPerson(world);
});
afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  for (const server of servers) server.close();
  await world?.close();
});

/** The page of the browser, at an address. */
async function pageAt(context: TestContext, url: string): Promise<Browser> {
  const page = typeof browser === 'string' ? context.skip(browser) : browser;
  await page.open(url);
  return page;
}

/** Code that sends a request as a page of the origin does, with the CSRF token of the cookie that pages can read. */
const send = (at: string, path: string, body?: object) => `(async () => {
  const token = await fetch('${at}/livez', { credentials: 'include' }).then(() => (/csrf_token=([^;]+)/.exec(document.cookie) ?? [])[1] ?? '');
  const response = await fetch('${at}${path}', { credentials: 'include', ${
    body === undefined
      ? ''
      : `method: 'POST', body: ${JSON.stringify(JSON.stringify(body))}, headers: { 'content-type': 'application/json', 'x-csrf-token': token },`
  } });
  return { status: response.status, requestId: response.headers.get('x-request-id'), body: await response.json() };
})().catch((error) => ({ refusedByBrowser: String(error) }))`;

async function signIn(context: TestContext): Promise<Browser> {
  const page = await pageAt(context, `${origin}/docs/errors`);
  await page.send('Network.clearBrowserCookies');
  const answer = await page.evaluate(send(origin, '/v1/login', { username: owner.user.email, password: testPassword }));
  expect(answer).toMatchObject({ status: 200 });
  return page;
}

test('in a real browser: /docs and /docs/errors show everything without any other host', async (context) => {
  for (const path of ['/docs', '/docs/errors']) {
    const page = await pageAt(context, `${origin}${path}`);
    const hosts = await page.evaluate(
      `[...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]`,
    );
    expect(hosts, path).toEqual([origin]);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('table')).borderCollapse`), path).toBe(
      'collapse',
    );
    // Nothing is wider than the window.
    expect(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      path,
    ).toBeLessThanOrEqual(0);
    const broken = await page.evaluate(
      `[...document.querySelectorAll('a[href^="#"]')].map((link) => link.getAttribute('href').slice(1)).filter((id) => !document.getElementById(id))`,
    );
    expect(broken, path).toEqual([]);
  }
  const page = await pageAt(context, `${origin}/docs#createTask`);
  const shown = `[...document.querySelectorAll('section')].find((one) => one.querySelector('#createTask')).textContent`;
  expect(await page.evaluate(shown)).toMatch(/POST \/v1\/tasks[^]*CreateTaskInput[^]*201[^]*Idempotency-Replayed/);
  // A link to a schema opens it.
  await page.evaluate(`location.hash = '#schema-Task'`);
  await eventually(() => page.evaluate(`document.getElementById('schema-Task').checkVisibility()`));
  expect(await page.evaluate(`document.getElementById('schema-Task').textContent`)).toContain('record_version');
});

test('in a real browser: the trace of a request is a page with links into the Temporal UI', async (context) => {
  const page = await signIn(context);
  const title = `traced ${newId()}`;
  const created = await page.evaluate(send(origin, '/v1/tasks', { title }));
  expect(created).toMatchObject({ status: 201, requestId: expect.any(String) });
  const links = await eventually(async () => {
    await page.open(`${origin}/trace/${created.requestId}`);
    const found = await page.evaluate(`[...document.querySelectorAll('a')].map(({ href }) => href)`);
    return found.length > 0 && found;
  });
  expect(links[0]).toMatch(/^https:\/\/temporal\.example\/namespaces\/[^/]+\/workflows\/[^/]+\/[^/]+\/history$/);
  const text = await page.evaluate('document.body.textContent');
  for (const part of ['Changes', 'task.created', created.body.id, 'Workflow runs']) expect(text).toContain(part);
});

test('in a real browser: pages of an allowed origin call with credentials, others do not, and no form of theirs is accepted', async (context) => {
  await signIn(context);
  const page = await pageAt(context, allowed);
  expect(await page.evaluate(send(origin, '/v1/account/userinfo'))).toMatchObject({
    status: 200,
    body: { email: owner.user.email },
  });
  await page.open(foreign);
  expect(await page.evaluate(send(origin, '/v1/account/userinfo'))).toEqual({
    refusedByBrowser: 'TypeError: Failed to fetch',
  });
  const count = async () => {
    const client = instance.client();
    const session = await client.post('/v1/login', { username: owner.user.email, password: testPassword });
    client.bearer = session.body.access_token;
    return (await client.get('/v1/sessions?count=true')).body.total_count;
  };
  const before = await count();
  // A form needs no permission to be sent, and the browser adds the cookies of the site.
  for (const from of [allowed, foreign]) {
    await page.open(from);
    await page.evaluate(
      `document.body.innerHTML = '<form method="post" action="${origin}/v1/logout" enctype="text/plain"><input name="a" value="b"></form>'`,
    );
    await page.evaluate(`document.querySelector('form').submit()`);
    await eventually(() =>
      page.evaluate(`location.origin === '${origin}' && document.body.textContent.includes('csrf_token_missing')`),
    );
  }
  expect(await count()).toBe(before + 1);
  await page.open(allowed);
  expect(await page.evaluate(send(origin, '/v1/account/userinfo'))).toMatchObject({ status: 200 });
});
