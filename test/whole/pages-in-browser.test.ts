// Left to npm run prove; npm test has test/whole/pages-for-people.test.ts.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { Browser } from '../kit/http/browser.ts';
import { notingListener } from '../kit/events/event-fixtures.ts';
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

/** How much wider than the window a page is. */
const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

test('in a real browser: /docs shows every operation, without any other host, and sends requests', async (context) => {
  const page = await pageAt(context, `${origin}/docs`);
  await page.send('Network.clearBrowserCookies');
  await page.open(`${origin}/docs`);
  expect(
    await page.evaluate(`performance.getEntriesByName('first-contentful-paint').length`),
    'the page shows something before its script has run',
  ).toBe(1);
  await eventually(() => page.evaluate(`document.querySelector('#loading') === null`));
  const hosts = await page.evaluate(
    `[...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]`,
  );
  expect(hosts).toEqual([origin]);
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(10_000);
  expect(await page.evaluate('document.body.textContent')).toContain('Sign in with a password');
  const samples = await page.evaluate(
    `(async () => {
      const { withSamples } = await import('/pages/reference.js');
      const { paths } = withSamples(await (await fetch('/openapi.json')).json());
      return [paths['/v1/search'].get, paths['/v1/tasks/{id}'].get].map((each) => each['x-codeSamples'][0].source);
    })()`,
  );
  expect(samples).toEqual([
    expect.stringContaining('ok(api.search(query))'),
    expect.stringMatching(/ok\(api\.\w+\(id\)\)/),
  ]);
  for (const sample of samples) expect(sample).toContain(`npx oazapfts ${origin}/openapi.json api.ts`);
  // What the page sends has the CSRF token of its cookie, and after a sign-in the access token.
  const sent = (path: string, body: object) =>
    `(async () => {
      const { sending } = await import('/pages/reference.js');
      window.send ??= sending(await (await fetch('/openapi.json')).json());
      const answer = await window.send('${origin}${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(body)}' });
      return answer.status;
    })()`;
  expect(await page.evaluate(sent('/v1/login', { username: owner.user.email, password: testPassword }))).toBe(200);
  expect(await page.evaluate(sent('/v1/tasks', { title: 'from the reference' }))).toBe(201);
});

test('in a real browser: /docs/errors is as wide as the window, at 390 px too, and breaks no word', async (context) => {
  for (const width of [1_280, 390]) {
    const page = await pageAt(context, `${origin}/docs/errors`);
    await page.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
    expect(await page.evaluate(overflow), String(width)).toBeLessThanOrEqual(0);
    // A code is one word: it has one line.
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('td code')].filter((code) => code.getClientRects().length > 1).length`,
      ),
      String(width),
    ).toBe(0);
    await page.send('Emulation.clearDeviceMetricsOverride');
  }
});

test('in a real browser: the trace of a request is a page with links into the Temporal UI', async (context) => {
  const page = await signIn(context);
  const title = `traced ${newId()}`;
  const created = await page.evaluate(send(origin, '/v1/tasks', { title }));
  expect(created).toMatchObject({ status: 201, requestId: expect.any(String) });
  const linksOf = async (): Promise<string[]> => {
    await page.open(`${origin}/trace/${created.requestId}`);
    return page.evaluate(`[...document.querySelectorAll('a')].map(({ href }) => href)`);
  };
  const toTemporal = /^https:\/\/temporal\.example\/namespaces\/[^/]+\/workflows\/[^/]+\/[^/]+\/history$/;
  const links = await eventually(async () => {
    const found = await linksOf();
    return found.some((each) => toTemporal.test(each)) && found;
  });
  expect(links).toContain(`${origin}/v1/tasks/${created.body.id}`);
  // Each id leads to what it names.
  const own = [...new Set(links.filter((each) => each.startsWith(origin)))];
  expect(own).toContainEqual(expect.stringMatching(/\/v1\/events\/\w{26}$/));
  const statuses = `Promise.all(${JSON.stringify(own)}.map(async (url) => [url, (await fetch(url)).status]))`;
  expect(await page.evaluate(statuses)).toEqual(own.map((url) => [url, 200]));
  for (const width of [1_280, 390]) {
    await page.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
    await linksOf();
    expect(await page.evaluate(overflow), String(width)).toBeLessThanOrEqual(0);
    await page.send('Emulation.clearDeviceMetricsOverride');
  }
  const text = await page.evaluate('document.body.textContent');
  for (const part of ['POST', '/v1/tasks', '201', 'Changes', 'task.created', created.body.id, 'Workflow runs'])
    expect(text).toContain(part);
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
