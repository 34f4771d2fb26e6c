// Left to npm run prove; npm test has test/whole/browser.test.ts.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PutBucketCorsCommand, type CORSRule } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest';
import { Browser } from '../kit/http/browser.ts';
import { eventually } from '../kit/eventually.ts';
import { startObjectStore, type ObjectStore } from '../kit/object-stores.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { codeBlocks } from '../kit/records/reader-shell.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { newS3Bucket } from '../kit/storage-providers.ts';
import { bucketstoreSettings, diskSettings, providerVariable, s3ClientOf } from '../kit/storage-settings.ts';
import { startTcpProxy } from '../kit/servers/tcp-proxy.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

// Pages of one origin, the API at another, the files at a third.

const mebibyte = 1_048_576;

let browser: Browser | string;
let pages: Server;
let folder: string;
let s3: ObjectStore;
let bucket: string;
let world: World;
let api: string;
/** The origin of the pages, which the API allows; the same server has another origin, which it does not. */
let allowed: string;
let foreign: string;
let client: TestClient;

beforeAll(async () => {
  browser = await Browser.start();
  if (typeof browser === 'string') return;
  const tus = readFileSync(createRequire(import.meta.url).resolve('tus-js-client/dist/tus.min.js'));
  pages = createServer(({ url }, response) => {
    const [type, body] =
      url === '/tus.js' ? ['text/javascript', tus] : ['text/html', '<script src="/tus.js"></script>'];
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const { port } = pages.address() as AddressInfo;
  [allowed, foreign] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
  folder = await mkdtemp(join(tmpdir(), 'core-browser-files-'));
  s3 = await startObjectStore('s3');
  bucket = await newS3Bucket(s3.url);
  world = await openWorld({
    worker: ['workflows', 'storage'],
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      [providerVariable('bucketstore.enabled')]: 'true',
      ...bucketstoreSettings(s3.url, bucket),
      ...diskSettings(folder),
      CORE_SERVER_CORS_ALLOWORIGINS: allowed,
    },
  });
  api = (await world.listen()).url;
  await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_APIURL: api });
  client = await signedIn(world, await buildPerson(world));
});
afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await world?.close();
  await s3?.stop();
  pages?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** What the pages of a product have: the function of docs/files.md, requests with a token, and digests of what they send and get. */
const pageScript = (token: string) => `
${codeBlocks('docs/files.md', 'js', 'Uploads').join('\n')}
var token = '${token}';
var authorization = 'Bearer ' + token;
async function send(method, url, body) {
  const headers = { authorization, ...(body ? { 'content-type': 'application/json' } : {}) };
  const response = await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  return { status: response.status, body: response.status === 204 ? null : await response.json() };
}
async function digest(blob) {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
function randomPdf(bytes) {
  const pieces = ['%PDF-1.7\\n'];
  for (let left = bytes; left > 0; left -= 65536) pieces.push(crypto.getRandomValues(new Uint8Array(Math.min(left, 65536))));
  return new Blob(pieces);
}
async function put(link, body, type) {
  const headers = type ? { 'content-type': type } : {};
  try {
    return (await fetch(link, { method: 'PUT', body, headers })).status;
  } catch (error) {
    return error.name;
  }
}
async function download(id) {
  const response = await fetch('${api}/v1/files/' + id + '/download', { headers: { authorization } });
  return { digest: await digest(await response.blob()), named: response.headers.get('content-disposition'), range: response.headers.get('accept-ranges') };
}
`;

/** A page that is signed in, of an origin. */
async function openPage(context: TestContext, origin = allowed) {
  const page = typeof browser === 'string' ? context.skip(browser) : browser;
  await page.open(`${origin}/`);
  await page.evaluate(pageScript(client.cookies.get('access_token') ?? ''));
  return (script: string) => page.evaluate(script);
}
type Page = Awaited<ReturnType<typeof openPage>>;

/** Waits until a record can take an upload, makes a file of it and downloads that, all in the page. */
async function attachAndDownload(run: Page, upload: string) {
  await eventually(async () => {
    const { body } = await run(`send('GET', '${api}/v1/uploads/${upload}')`);
    if (body.status === 'refused') throw new Error(body.problem);
    return body.status === 'ready';
  });
  const file = await run(`send('POST', '${api}/v1/files', { content: '${upload}' })`);
  expect(file, JSON.stringify(file.body)).toMatchObject({ status: 201 });
  return { downloaded: await run(`download('${file.body.content.id}')`), object: file.body.content.id as string };
}

test('tus-js-client: an upload survives the end of its API process and a lost connection, and goes on at another process', async (context) => {
  const run = await openPage(context);
  const first = new ProductProcess({
    program: 'api/api-main.ts',
    environment: { ...world.environment, STACK_STATE_DIR: dirname(world.mailFolder) },
  });
  await first.ready;
  const proxy = await startTcpProxy(new URL(await eventually(() => first.url || undefined)).host);
  try {
    const cut = proxy.cutAfter(7 * mebibyte);
    const size = 16 * mebibyte + 3;
    await run(`
      var file = new File([randomPdf(${size})], 'report.pdf'), outcome = '';
      var upload = uploadFile(file, {
        api: 'http://${proxy.address}',
        token,
        onError: (error) => { outcome = String(error); },
        onSuccess: (id) => { outcome = id; },
      });
      upload.options.retryDelays = Array(600).fill(100);
    `);
    await cut;
    const offset = async () => {
      const url = `/v1/uploads/${(await run('upload.url')).split('/').at(-1)}`;
      return Number((await client.request({ method: 'HEAD', url })).headers['upload-offset']);
    };
    // What reached the process before the cut is kept.
    const kept = await eventually(async () => (await offset()) || undefined);
    const cutAgain = proxy.cutAfter(4 * mebibyte);
    proxy.restore();
    await cutAgain;
    await first.kill();
    expect(await offset()).toBeGreaterThanOrEqual(kept);
    // The turn of the process that was killed, which had the real time, ends after a while.
    world.clock.advance(Date.now() - world.clock.now().getTime() + 60_000);
    proxy.target = new URL(api).host;
    proxy.restore();
    const id = await eventually(async () => (await run('outcome')) || undefined);
    const { downloaded } = await attachAndDownload(run, id);
    expect(downloaded).toEqual({
      digest: await run('digest(file)'),
      named: expect.stringContaining('report.pdf'),
      range: 'bytes',
    });
  } finally {
    await proxy.close();
    await first.kill();
  }
});

test('a direct upload across origins, to the provider and to this server: as signed, and nothing afterwards changes it', async (context) => {
  const run = await openPage(context);
  await allowBucketOrigin(allowed);
  for (const provider of ['bucketstore', 'disk'] as const) {
    if (provider === 'disk') await world.reconfigure({ [providerVariable('bucketstore.enabled')]: 'false' });
    const begun = await run(
      `send('POST', '${api}/v1/uploads/direct', { name: 'a.txt', size_bytes: 5, type: 'text/plain' })`,
    );
    expect(begun.status).toBe(201);
    const { id, url, headers } = begun.body;
    const isProvider = provider === 'bucketstore';
    expect(new URL(url).origin).toBe(isProvider ? s3.url : api);
    const type = headers['content-type'] ?? '';
    // A service answers refusals without CORS headers; the page sees an error of the network then.
    const refused = isProvider ? [403, 'TypeError'] : [413, 422, 'TypeError'];
    expect(refused).toContain(await run(`put('${url}', 'hello!', '${type}')`));
    expect(refused).toContain(await run(`put('${url}', 'hell', '${type}')`));
    if (isProvider) expect(refused).toContain(await run(`put('${url}', 'hello', 'text/html')`));
    expect(await run(`put('${url}', 'hello', '${type}')`)).toBe(isProvider ? 200 : 204);
    if (isProvider)
      expect(await run(`send('POST', '${api}/v1/uploads/${id}/complete')`)).toMatchObject({ status: 204 });
    const { downloaded, object } = await attachAndDownload(run, id);
    const sha256 = hash('sha256', 'hello');
    expect(downloaded).toMatchObject({ digest: sha256 });
    // The link is still good at the provider, which then has bytes that nobody reads.
    const again = await run(`put('${url}', 'world', '${type}')`);
    expect(isProvider ? [200] : [404, 409]).toContain(again);
    expect(await run(`send('POST', '${api}/v1/uploads/${id}/complete')`)).toMatchObject({ status: 404 });
    expect(await run(`download('${object}')`)).toMatchObject({ digest: sha256 });
  }
  await world.reconfigure({ [providerVariable('bucketstore.enabled')]: 'true' });
});

test('pages of other origins read and send nothing', async (context) => {
  const run = await openPage(context, foreign);
  const { body } = await client.post('/v1/uploads/direct', { name: 'a.txt', size_bytes: 5 });
  await allowBucketOrigin(allowed);
  expect(await run(`put('${body.url}', 'hello', '${body.headers['content-type']}')`)).toBe('TypeError');
  await expect(run(`send('GET', '${api}/v1/uploads/${body.id}')`)).rejects.toThrow('Failed to fetch');
  await expect(run(`send('POST', '${api}/v1/uploads/direct', { name: 'a', size_bytes: 5 })`)).rejects.toThrow(
    'Failed to fetch',
  );
  expect((await client.get(`/v1/uploads/${body.id}`)).body.status).toBe('receiving');
});

/** Sets the CORS rules of docs/files.md for pages of an origin. */
async function allowBucketOrigin(origin: string): Promise<void> {
  const [rules = ''] = codeBlocks('docs/files.md', 'json', 'Uploads');
  const { CORSRules } = JSON.parse(rules.replace('https://console.example.com', origin)) as { CORSRules: CORSRule[] };
  const service = s3ClientOf(s3.url);
  await service.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules } }));
  service.destroy();
}
