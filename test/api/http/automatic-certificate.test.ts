// Left to npm run prove; npm test has test/api/http/obtained-certificate.test.ts.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CertificateRows } from '#api/http/tls/certificate-rows.ts';
import type { Listening } from '#api/start-api.ts';
import { AcmeServer } from '../../kit/servers/acme-server.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { testCertificate } from '../../kit/servers/certificates.ts';
import { eventually } from '../../kit/eventually.ts';
import { holdRow, waitForLocks } from '../../kit/records/held-row.ts';
import { http2Connection, http2Request } from '../../kit/http/http2-client.ts';
import { scrape, valueOf } from '../../kit/processes/scrape.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;
const authorities: AcmeServer[] = [];
const instances: Instance[] = [];

// Each with a clock of its own: what the authority issues has the time of the machine.
beforeEach(async () => {
  followed = 0;
  world = await openWorld();
});
afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.stopServing()));
  await Promise.all(authorities.splice(0).map((authority) => authority.close()));
  await world.close();
});

const day = 86_400_000;
const name = 'api.example.test';

async function startAuthority(options: Partial<Parameters<typeof AcmeServer.start>[0]> = {}): Promise<AcmeServer> {
  const authority = await AcmeServer.start({ names: [name], ...options });
  authorities.push(authority);
  return authority;
}

interface Settings {
  readonly port?: number;
  readonly firstPoll?: number;
  readonly start?: number;
  readonly externalAccount?: { readonly keyId: string; readonly hmacKey: string };
  readonly environment?: Readonly<Record<string, string>>;
}

/** An API process that gets its certificate from the authority. */
async function openProcess(
  authority: AcmeServer,
  { port = authority.port, firstPoll = 50, start = 120_000, externalAccount, environment = {} }: Settings = {},
): Promise<Instance> {
  const instance = await world.openInstance({
    environment: {
      CORE_SERVER_TLS_ENABLED: 'true',
      CORE_SERVER_TLS_AUTOCERT: 'true',
      CORE_SERVER_LISTEN: `127.0.0.1:${port}`,
      CORE_INTEGRATIONS_EMAIL_APIURL: `https://${name}`,
      ...environment,
    },
    certificates: {
      authority: { directoryUrl: authority.directoryUrl, externalAccount },
      times: { poll: 50, firstPoll, start },
    },
  });
  instances.push(instance);
  return instance;
}

function secureSocket(url: string, options: ConnectionOptions): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), servername: name, ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The certificate that a new connection gets, whoever issued it. */
async function seen(url: string): Promise<X509Certificate> {
  const socket = await secureSocket(url, { rejectUnauthorized: false });
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  if (!certificate) throw new Error('the server shows no certificate');
  return certificate;
}

function readiness(url: string, ca: string): Promise<{ readonly version: string; readonly body: Readiness }> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/readyz?verbose`, { ca, servername: name, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => resolve({ version: answer.httpVersion, body: JSON.parse(text) as Readiness }));
    });
    asked.once('error', reject);
    asked.end();
  });
}

const failures = () => world.logs.filter(({ msg }) => String(msg).startsWith('no certificate: the authority'));

/** Failures that were followed by another attempt. */
let followed = 0;

/** On a machine that is busy, an authority may wait in vain for its proof. Then the time of the next attempt comes, until the answer is there. */
async function eventuallyIssued(question: () => Promise<boolean> | boolean): Promise<void> {
  await eventually(() => {
    if (failures().length > followed) {
      followed = failures().length;
      world.clock.advance(day / 2);
    }
    return question();
  });
}

/** What waits for a certificate, however many attempts of a busy machine fail before. */
async function issued<T>(waiting: Promise<T>): Promise<T> {
  let isSettled = false;
  const settling = waiting.finally(() => (isSettled = true));
  settling.catch(() => {});
  await eventuallyIssued(() => isSettled);
  return settling;
}

/** Listens, when it has its certificate. */
const served = (instance: Instance): Promise<Listening> => issued(instance.listen());

/** How many certificates were ordered with success. */
const ordered = (authority: AcmeServer) => authority.proxy.count('/order-plz') - failures().length;

interface Readiness {
  readonly checks: Readonly<Record<string, { status: string; reason?: string; expires_at?: string }>>;
}

test('autocert: the listener shows a certificate of the authority, over HTTP/1.1 and HTTP/2', async () => {
  const authority = await startAuthority();
  const { url, metricsUrl } = await served(await openProcess(authority));
  const ca = await authority.root();
  const answer = await readiness(url, ca);
  expect(answer.version).toBe('1.1');
  const session = await http2Connection(url, ca, { servername: name });
  expect((await http2Request(session, { ':path': '/livez' })).status).toBe(200);
  session.close();

  const certificate = await seen(url);
  expect(certificate.subjectAltName).toBe(`DNS:${name}`);
  expect(answer.body.checks['tls_certificate']).toMatchObject({
    status: 'up',
    expires_at: certificate.validToDate.toISOString(),
  });
  const metrics = await scrape(metricsUrl);
  expect(valueOf(metrics, 'core_tls_certificate_expiry_timestamp_seconds')).toBe(
    certificate.validToDate.getTime() / 1_000,
  );
});

test('before there is a certificate, connections are refused, and the authority gets its proof', async () => {
  const authority = await startAuthority();
  const instance = await openProcess(authority);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  authority.proxy.before = (path) => (path.startsWith('/finalize-order') ? held : Promise.resolve());
  const listening = instance.listen();
  await eventuallyIssued(() => authority.proxy.requests.some((asked) => asked.includes('/finalize-order')));
  // The proof was right, and nobody else gets in: with HTTP/2, HTTP/1.1, without a choice, with TLS 1.2.
  const url = `https://127.0.0.1:${authority.port}`;
  const others: ConnectionOptions[] = [
    { ALPNProtocols: ['h2', 'http/1.1'] },
    { ALPNProtocols: ['http/1.1'] },
    {},
    { maxVersion: 'TLSv1.2' },
    { ALPNProtocols: ['acme-tls/1'], servername: 'other.example.test' },
  ];
  for (const options of others)
    await expect(secureSocket(url, { ...options, rejectUnauthorized: false })).rejects.toThrow();
  release();
  await issued(listening);
  expect((await seen(url)).subjectAltName).toBe(`DNS:${name}`);
  // Once it has its certificate, nobody gets a proof any more.
  await expect(secureSocket(url, { ALPNProtocols: ['acme-tls/1'], rejectUnauthorized: false })).rejects.toThrow();
});

test('all processes share one certificate, also after a restart; one of them orders, and each shows the proof', async () => {
  const authority = await startAuthority();
  // It is where the authority looks, and orders nothing itself.
  const shows = await openProcess(authority, { firstPoll: 600_000 });
  const shown = shows.listen().catch((error: unknown) => error);
  await eventually(() => world.logs.some(({ msg }) => String(msg).startsWith('waiting for the first certificate')));
  const orders = await Promise.all([1, 2, 3].map(() => openProcess(authority, { port: 0 })));
  const listening = await Promise.all(orders.map(served));
  const serials = await Promise.all(listening.map(async ({ url }) => (await seen(url)).serialNumber));
  expect(new Set(serials).size).toBe(1);
  expect(ordered(authority)).toBe(1);
  expect(authority.proxy.count('/sign-me-up')).toBe(1);
  // It looks at nothing for ten minutes, so it is still waiting.
  await shows.api.app.close();
  void shown;

  const asked = authority.proxy.requests.length;
  const again = await served(await openProcess(authority));
  expect((await seen(again.url)).serialNumber).toBe(serials[0]);
  expect(authority.proxy.requests).toHaveLength(asked);
});

test('the order of a process that died is taken over after a minute, and what it still does has no effect', async () => {
  const authority = await startAuthority();
  const place = [authority.directoryUrl, name];
  await asOwner(
    world,
    `insert into automatic_certificates (authority, name, held_by, held_until) values ($1, $2, 'dead', $3)`,
    [...place, new Date(world.clock.now().getTime() + 60_000)],
  );
  const listening = (await openProcess(authority)).listen();
  await eventually(() => world.logs.some(({ msg }) => String(msg).startsWith('waiting for the first certificate')));
  expect(authority.proxy.requests).toHaveLength(0);
  world.clock.advance(60_000);
  const { url } = await issued(listening);
  const { serialNumber } = await seen(url);
  const rows = new CertificateRows({
    database: world.runtime.database,
    place: { authority: authority.directoryUrl, name },
    secrets: () => world.config.current.sessions.encryptionkey,
  });
  await expect(rows.succeed('dead', testCertificate(), new Date())).rejects.toThrow(/another process orders/);
  await expect(rows.show('dead', 'x')).rejects.toThrow(/another process orders/);
  expect(new X509Certificate((await rows.read())?.issued?.cert ?? '').serialNumber).toBe(serialNumber);
});

test('a process that stops while it asks for the order leaves it to others at once', async () => {
  const authority = await startAuthority();
  await asOwner(world, 'insert into automatic_certificates (authority, name) values ($1, $2)', [
    authority.directoryUrl,
    name,
  ]);
  const letGo = await holdRow(world, 'automatic_certificates', name, 'name');
  const stopping = await openProcess(authority, { port: 0 });
  stopping.listen().catch(() => {});
  await waitForLocks(world, 1);
  await stopping.stopServing();
  const listening = (await openProcess(authority)).listen();
  await waitForLocks(world, 2);
  await letGo();
  // The time in which a process holds the order without a word never ends here.
  await issued(listening);
  expect(authority.proxy.count('/dir')).toBeGreaterThan(0);
});

describe('renewal', () => {
  test('comes when a third of the lifetime is left, live and in every process, and breaks no connection', async () => {
    const authority = await startAuthority();
    const environment = { CORE_SERVER_IDLETIMEOUT: '600000' };
    const first = await openProcess(authority, { environment });
    const { url } = await served(first);
    const { url: otherUrl } = await served(await openProcess(authority, { port: 0 }));
    const before = (await seen(url)).serialNumber;
    const open = await http2Connection(url, await authority.root(), { servername: name });
    // A connection without any request is ended after `server.readheadertimeout`.
    expect((await http2Request(open, { ':path': '/livez' })).status).toBe(200);

    world.clock.advance(59 * day);
    expect((await seen(url)).serialNumber).toBe(before);
    expect(ordered(authority)).toBe(1);
    world.clock.advance(2 * day);
    // Meanwhile no connection is refused.
    await eventuallyIssued(async () => (await seen(url)).serialNumber !== before);
    const after = (await seen(url)).serialNumber;
    await eventually(async () => (await seen(otherUrl)).serialNumber === after);
    expect((await http2Request(open, { ':path': '/livez' })).status).toBe(200);
    open.close();
    // The account is the same one, and what is fresh is not ordered again although the clock says that little of it is left.
    expect(ordered(authority)).toBe(2);
    expect(authority.proxy.count('/sign-me-up')).toBe(1);
  });

  test('while it fails, the certificate before stays; pauses grow, and are as long as the authority asks', async () => {
    const authority = await startAuthority();
    const { url, metricsUrl } = await served(await openProcess(authority));
    const ca = await authority.root();
    const before = (await seen(url)).serialNumber;
    const earlier = failures().length;
    const failed = (count: number) => eventually(() => failures().length === earlier + count);
    const limited = {
      status: 429,
      headers: { 'content-type': 'application/problem+json', 'retry-after': '7200', 'replay-nonce': 'x' },
      body: JSON.stringify({ type: 'urn:ietf:params:acme:error:rateLimited', detail: 'too many certificates' }),
    };
    authority.proxy.instead = (path) => (path === '/order-plz' ? limited : undefined);
    world.clock.advance(61 * day);
    await failed(1);
    expect(failures().at(-1)).toMatchObject({
      msg: 'no certificate: the authority answers 429 rateLimited: too many certificates; the previous certificate stays in use',
      failed_attempts: 1,
      next_attempt_at: new Date(world.clock.now().getTime() + 7_200_000).toISOString(),
    });
    expect((await seen(url)).serialNumber).toBe(before);
    const { body } = await readiness(url, ca);
    expect(body.checks['tls_certificate']).toMatchObject({
      status: 'degraded',
      reason: 'cannot be renewed; it is tried again',
    });
    expect(valueOf(await scrape(metricsUrl), 'core_tls_certificate_failed_renewals')).toBe(1);

    // Not asked again before that time: the next question comes after it.
    const asked = authority.proxy.requests.length;
    world.clock.advance(7_100_000);
    await readiness(url, ca);
    expect(authority.proxy.requests).toHaveLength(asked);
    authority.proxy.instead = () => ({ status: 503, headers: {}, body: 'down for maintenance' });
    world.clock.advance(100_000);
    await failed(2);
    expect(failures().at(-1)).toMatchObject({
      msg: 'no certificate: the authority answers 503; the previous certificate stays in use',
      next_attempt_at: new Date(world.clock.now().getTime() + 10_000).toISOString(),
    });
    authority.proxy.instead = () => undefined;
    world.clock.advance(10_000);
    await eventuallyIssued(async () => (await seen(url)).serialNumber !== before);
    expect(valueOf(await scrape(metricsUrl), 'core_tls_certificate_failed_renewals')).toBe(0);
  });

  test('works with an authority that has forgotten the account', async () => {
    const authority = await startAuthority();
    const { url } = await served(await openProcess(authority));
    const before = (await seen(url)).serialNumber;
    await authority.restart();
    world.clock.advance(61 * day);
    await eventuallyIssued(async () => (await seen(url)).serialNumber !== before);
    expect(authority.proxy.count('/sign-me-up')).toBe(2);
  });

  test('a certificate that has expired is served and renewed', async () => {
    const authority = await startAuthority();
    const first = await openProcess(authority);
    await served(first);
    await first.stopServing();
    world.clock.advance(91 * day);
    authority.proxy.instead = () => ({ status: 500, headers: {}, body: '' });
    const { url } = await served(await openProcess(authority));
    expect((await seen(url)).subjectAltName).toBe(`DNS:${name}`);
    expect(world.logs.some(({ msg }) => msg === 'the certificate has expired: it is renewed')).toBe(true);
  });
});

describe('an authority', () => {
  /** What the start says that waits no longer. */
  async function refusal(authority: AcmeServer): Promise<string> {
    const refused = await (
      await openProcess(authority, { port: 0, start: 1 })
    )
      .listen()
      .catch((error: unknown) => error as Error);
    expect(refused).toMatchObject({ name: 'StartError' });
    return (refused as Error).message;
  }

  /** A process that waits for its first certificate, until the first attempt has failed. */
  async function untilFailed(authority: AcmeServer): Promise<Instance> {
    const waiting = await openProcess(authority, { start: 3_600_000 });
    waiting.listen().catch(() => {});
    await eventually(() => failures().length === 1);
    return waiting;
  }

  test('that is away at the first start: the start ends with the reason, and no start asks too early', async () => {
    const authority = await startAuthority();
    authority.proxy.instead = (path) => (path === '/dir' ? { status: 403, headers: {}, body: 'go away' } : undefined);
    const waiting = await untilFailed(authority);
    const asked = authority.proxy.requests.length;
    const next = new Date(world.clock.now().getTime() + 120_000).toISOString();
    expect(await refusal(authority)).toBe(
      `server.tls.autocert is on, but no certificate for ${name} came from ${authority.directoryUrl} within 0.001 s: the authority answers 403 (the next attempt is at ${next}). The authority must reach this server at port 443 of ${name} (server.listen, or a port that is forwarded there without ending TLS).`,
    );
    authority.proxy.instead = () => undefined;
    await refusal(authority);
    expect(authority.proxy.requests).toHaveLength(asked);
    // The process that waits gets it in the end.
    world.clock.advance(120_000);
    await eventuallyIssued(() => waiting.api.certificate?.current !== undefined);
  });

  test('that does not find this server is repeated with its reason', async () => {
    const authority = await startAuthority({ names: [] });
    await untilFailed(authority);
    expect(await refusal(authority)).toMatch(/: the authority gives no certificate: .+ \(the next attempt is at /);
  });

  test('that issues a certificate for another key is not believed', async () => {
    const authority = await startAuthority();
    const lie = testCertificate().cert;
    authority.proxy.change = (path, answer) =>
      path.startsWith('/certZ') && answer.status === 200 ? { ...answer, body: lie } : answer;
    await untilFailed(authority);
    expect(await refusal(authority)).toContain(
      'the authority issued a certificate that is for another key than the one that was sent: it is not used',
    );
    const kept = await asOwner(world, 'select from automatic_certificates where certificate is not null');
    expect(kept).toHaveLength(0);
  });

  test('that only takes customers whom it knows gets their key', async () => {
    const hmacKey = Buffer.from('a key of thirty-two bytes, or so').toString('base64url');
    const authority = await startAuthority({ externalAccounts: { 'kid-1': hmacKey } });
    const unknown = await untilFailed(authority);
    expect(failures()[0]?.['msg']).toContain('externalAccountRequired');
    await unknown.stopServing();
    world.clock.advance(120_000);
    await served(await openProcess(authority, { externalAccount: { keyId: 'kid-1', hmacKey } }));
  });
});

test('keys of account and certificate are encrypted, survive a rotation, and are in no log', async () => {
  const authority = await startAuthority();
  const { url } = await served(await openProcess(authority));
  const { serialNumber } = await seen(url);
  const rows = () =>
    asOwner<{ row: string; key: string }>(
      world,
      `select r::text as row, private_key as key from automatic_certificates r where authority = $1`,
      [authority.directoryUrl],
    );
  const [sealed] = await rows();
  expect(sealed?.row).not.toMatch(/PRIVATE KEY|"d":/);
  // The first secret encrypts: processes that have it encrypt what the second one has.
  const former = world.environment['CORE_SESSIONS_ENCRYPTIONKEY'] ?? '';
  const next = 'another secret of more than thirty-two characters';
  await instances[0]?.stopServing();
  const rotated = await openProcess(authority, { environment: { CORE_SESSIONS_ENCRYPTIONKEY: `${next},${former}` } });
  const { url: again } = await served(rotated);
  expect((await seen(again)).serialNumber).toBe(serialNumber);
  expect((await rows())[0]?.key).not.toBe(sealed?.key);
  await rotated.stopServing();
  // Without the earlier secret.
  const alone = await openProcess(authority, { environment: { CORE_SESSIONS_ENCRYPTIONKEY: next } });
  expect((await seen((await served(alone)).url)).serialNumber).toBe(serialNumber);
  await alone.stopServing();
  // With neither, all is made anew.
  const lost = await openProcess(authority, {
    environment: { CORE_SESSIONS_ENCRYPTIONKEY: 'a secret that nothing was ever encrypted with' },
  });
  await asOwner(world, `update automatic_certificates set next_attempt_at = null`);
  expect((await seen((await served(lost)).url)).serialNumber).not.toBe(serialNumber);
  expect(world.logs.some(({ msg }) => String(msg).includes('cannot be opened with sessions.encryptionkey'))).toBe(true);
  expect(JSON.stringify(world.logs)).not.toMatch(/PRIVATE KEY/);
  expect(() => createPrivateKey(sealed?.key ?? '')).toThrow();
});
