// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createPrivateKey } from 'node:crypto';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerCertificate } from '#api/http/tls/server-certificate.ts';
import { testCertificate, type TestCertificate } from '../../kit/servers/certificates.ts';
import { eventually } from '../../kit/eventually.ts';
import { http2Connection, http2Request } from '../../kit/http/http2-client.ts';
import { RawConnection } from '../../kit/http/raw-http.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let folder: string;

beforeAll(async () => {
  world = await openWorld();
  folder = await mkdtemp(join(tmpdir(), 'core-https-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

let files = 0;

/** Files with a certificate and its key, as the configuration names them. */
async function filesOf({ cert, key }: Pick<TestCertificate, 'cert' | 'key'>) {
  files++;
  const paths = { certfile: join(folder, `${files}.crt`), certkey: join(folder, `${files}.key`) };
  await writeFile(paths.certfile, cert);
  await writeFile(paths.certkey, key, { mode: 0o600 });
  return paths;
}

async function serve(certificate: TestCertificate) {
  const paths = await filesOf(certificate);
  const instance = await world.openInstance({
    environment: {
      CORE_SERVER_TLS_ENABLED: 'true',
      CORE_SERVER_TLS_CERTFILE: paths.certfile,
      CORE_SERVER_TLS_CERTKEY: paths.certkey,
    },
  });
  return { ...paths, ...(await instance.listen()) };
}

function secureSocket(url: string, options: ConnectionOptions): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The certificate that a new connection gets. */
async function fingerprintAt(url: string, trusted: readonly TestCertificate[]): Promise<string> {
  const socket = await secureSocket(url, { ca: trusted.map(({ cert }) => cert) });
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

function get(
  url: string,
  ca: string,
): Promise<{ readonly status: number; readonly headers: object; readonly version: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca, agent: false }, (answer) => {
      answer.resume();
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, version: answer.httpVersion }),
      );
    });
    asked.once('error', reject);
    asked.end();
  });
}

test('enabled: the listener speaks TLS, and nothing else', async () => {
  shows('server.tls.enabled');
  const certificate = testCertificate();
  const { url, metricsUrl } = await serve(certificate);
  expect(new URL(url).protocol).toBe('https:');
  const answer = await get(`${url}/livez`, certificate.cert);
  expect(answer).toMatchObject({ status: 200, version: '1.1' });
  expect(answer.headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000; includeSubDomains' });
  // The metrics have a port of their own, without TLS.
  expect((await fetch(metricsUrl)).status).toBe(200);
  const plain = new RawConnection(url);
  plain.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await plain.untilClosed()).not.toContain('HTTP/1.1');
  const usual = await world.listen();
  expect(new URL(usual.url).protocol).toBe('http:');
  expect((await fetch(`${usual.url}/livez`)).headers.get('strict-transport-security')).toBeNull();
});

test('clients choose between HTTP/2 and HTTP/1.1 on one port', async () => {
  const { cert, ...certificate } = testCertificate();
  const { url } = await serve({ cert, ...certificate });
  for (const [offered, agreed] of [
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1'], 'http/1.1'],
  ] as const) {
    const socket = await secureSocket(url, { ca: cert, ALPNProtocols: [...offered] });
    expect(socket.alpnProtocol).toBe(agreed);
    socket.destroy();
  }
  const session = await http2Connection(url, cert);
  expect((await http2Request(session, { ':path': '/livez' })).status).toBe(200);
  session.close();
  expect(await get(`${url}/livez`, cert)).toMatchObject({ status: 200, version: '1.1' });
});

test('TLS before 1.2 is refused', async () => {
  const { cert, ...certificate } = testCertificate();
  const { url } = await serve({ cert, ...certificate });
  const old = { ca: cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await expect(secureSocket(url, old)).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await secureSocket(url, { ca: cert, minVersion: version, maxVersion: version });
    expect(socket.getProtocol()).toBe(version);
    socket.destroy();
  }
});

describe('the files', () => {
  test('certfile and certkey: are what clients see, also after the files have changed', async () => {
    shows('server.tls.certfile', 'server.tls.certkey');
    const [first, second] = [testCertificate('first'), testCertificate('second')];
    const { url, certfile, certkey } = await serve(first);
    const seen = () => fingerprintAt(url, [first, second]);
    expect(await seen()).toBe(first.fingerprint);
    const open = await http2Connection(url, first.cert);
    expect((await http2Request(open, { ':path': '/livez' })).status).toBe(200);

    // Half of a file, and a key without its certificate: the certificate before stays.
    const warnings = () =>
      world.logs.filter(({ msg }) => String(msg).includes('the previous certificate stays in use'));
    await writeFile(certfile, second.cert.slice(0, 200));
    await eventually(() => warnings().length === 1);
    expect(warnings()[0]?.['msg']).toContain('server.tls.certfile ends within a certificate');
    expect(await seen()).toBe(first.fingerprint);
    await writeFile(certfile, second.cert);
    await eventually(() => warnings().length === 2);
    expect(warnings()[1]?.['msg']).toContain('server.tls.certkey does not belong to the first certificate');
    expect(await seen()).toBe(first.fingerprint);

    await writeFile(certkey, second.key);
    await eventually(async () => (await seen()) === second.fingerprint);
    expect(warnings()).toHaveLength(2);
    // A connection that was open before goes on.
    expect((await http2Request(open, { ':path': '/livez' })).status).toBe(200);
    open.close();
  });

  const right = testCertificate();
  const encrypted = createPrivateKey(right.key)
    .export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    })
    .toString();
  test.each<[string, Partial<TestCertificate>, string]>([
    ['an empty certificate', { cert: '' }, 'server.tls.certfile has no certificate in PEM (BEGIN CERTIFICATE).'],
    ['half a certificate', { cert: right.cert.slice(0, 300) }, 'server.tls.certfile ends within a certificate'],
    [
      'half a chain',
      { cert: `${right.cert}${right.cert.slice(0, 300)}` },
      'server.tls.certfile ends within a certificate: it may be half written.',
    ],
    [
      'a certificate of noise',
      { cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
      'server.tls.certfile has a certificate that cannot be read, number 1.',
    ],
    ['an empty key', { key: '' }, 'server.tls.certkey has no private key in PEM (BEGIN PRIVATE KEY).'],
    ['half a key', { key: right.key.slice(0, 100) }, 'server.tls.certkey ends within the key: it may be half written.'],
    ['a key with a passphrase', { key: encrypted }, 'server.tls.certkey is encrypted: store it without a passphrase.'],
    [
      'the key of another certificate',
      { key: testCertificate().key },
      'server.tls.certkey does not belong to the first certificate in server.tls.certfile (DNS:localhost, IP Address:127.0.0.1).',
    ],
    ['a certificate as the key', { key: right.cert }, 'server.tls.certkey has no private key in PEM'],
  ])('%s is refused at the start, with what is wrong', async (_name, changed, reason) => {
    const paths = await filesOf({ ...right, ...changed });
    const refused = await ServerCertificate.load({ files: () => paths, logger: world.api.services.logger }).catch(
      (error: unknown) => error as Error,
    );
    expect(refused).toMatchObject({ name: 'StartError' });
    expect((refused as Error).message).toContain(`HTTPS is on (server.tls.enabled), but ${reason}`);
    expect((refused as Error).message).not.toContain(right.key.slice(30, 60));
  });

  test('files that are missing, and a key that everybody can read, are refused', async () => {
    const paths = await filesOf(right);
    const { logger } = world.api.services;
    const loaded = (changed: Partial<typeof paths>) =>
      ServerCertificate.load({ files: () => ({ ...paths, ...changed }), logger });
    const nowhere = join(folder, 'nowhere');
    await expect(loaded({ certfile: nowhere })).rejects.toThrow('server.tls.certfile cannot be read (ENOENT).');
    await expect(loaded({ certkey: nowhere })).rejects.toThrow('server.tls.certkey cannot be read (ENOENT).');
    await chmod(paths.certkey, 0o644);
    await expect(loaded({})).rejects.toThrow('server.tls.certkey is open to all users (mode 0644)');
  });

  test('a certificate that has expired is served, and warned about', async () => {
    const { url } = await serve(testCertificate('old', new Date(Date.now() - 3_600_000)));
    expect(world.logs.some(({ msg }) => String(msg).includes('has expired: clients will refuse it'))).toBe(true);
    await expect(secureSocket(url, {})).rejects.toThrow(/expired|self-signed/);
  });
});
