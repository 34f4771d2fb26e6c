import { once } from 'node:events';
import { createServer, type AddressInfo, type LookupFunction } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { outboundUrlProblem } from '#activities/clients/outbound/check-outbound-url.ts';
import { customerReach } from '#activities/clients/outbound/customer-reach.ts';
import { outboundRequest, type OutboundLimits } from '#activities/clients/outbound/outbound-request.ts';
import { isReachable } from '#activities/clients/outbound/reachable-addresses.ts';
import { lookupByDns, resolveByDns } from '#activities/clients/outbound/resolve-by-dns.ts';
import type { Config } from '#config/objects/root.ts';
import { DnsServer } from '../../kit/servers/dns-server.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';

const reachWith = (webhookallowprivateaddresses: boolean) =>
  customerReach({ workflows: { webhookallowprivateaddresses } as Config['workflows'] });
const open = reachWith(true);
const closed = reachWith(false);

let sink: WebhookSink;
beforeAll(async () => {
  sink = await WebhookSink.open();
});
beforeEach(() => {
  sink.received.length = 0;
  sink.answer = () => ({ status: 204 });
});
afterAll(() => sink.close());

const post = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'hello' };
const ask = (url = sink.url, limits: Partial<OutboundLimits> = {}) =>
  outboundRequest(url, post, { reach: open, timeoutMs: 2_000, maxBytes: 65_536, ...limits });

const forbidden = [
  '127.0.0.1',
  '127.8.8.8',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '192.0.2.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fc00::1',
  'fec0::1',
  '::ffff:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'ff02::1',
];

describe('addresses of customers', () => {
  test.each(forbidden)('%s is not asked', (address) => {
    expect(isReachable(address, false, closed)).toBe(false);
    expect(isReachable(address, true, closed)).toBe(false);
  });

  test.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111'])('%s is asked over HTTPS only', (address) => {
    for (const reach of [open, closed]) {
      expect(isReachable(address, false, reach)).toBe(true);
      expect(isReachable(address, true, reach)).toBe(false);
    }
  });

  test('webhookallowprivateaddresses opens private, loopback and link-local addresses and no others', () => {
    const opened = forbidden.filter((address) => isReachable(address, true, open));
    expect(opened).toEqual([
      '127.0.0.1',
      '127.8.8.8',
      '10.1.2.3',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '::1',
      'fe80::1',
      'fc00::1',
      '::ffff:127.0.0.1',
      '::127.0.0.1',
    ]);
  });
});

/** Hosts of URLs that lead to an IPv4 address, or to one that contains it. */
function spellingsOf(address: string): string[] {
  const parts = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const number = parts.reduce((sum, part) => sum * 256 + part, 0);
  const hex = (value: number) => value.toString(16);
  const pair = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex(number)}`,
    `0${number.toString(8)}`,
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `0x${hex(part)}`).join('.'),
    `${a}.${number % 2 ** 24}`,
    `${a}.${b}.${c * 256 + d}`,
    Array.from(address, (sign) => `%${hex(sign.charCodeAt(0))}`).join(''),
    address.replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    address.replaceAll('.', '\u3002'),
    `[::ffff:${address}]`,
    `[::ffff:${pair}]`,
    `[0:0:0:0:0:FFFF:${pair}]`,
    `[::${pair}]`,
    `[64:ff9b::${pair}]`,
    `[64:ff9b:1::${pair}]`,
    `[2002:${pair}::1]`,
    `[2001:0:${pair}::]`,
  ];
}

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.0.1', '100.64.0.1', '0.0.0.0'])(
  'T-81: %s is asked in no spelling, neither when a URL is saved nor later',
  async (address) => {
    const isPublic = () => Promise.resolve(['93.184.216.34']);
    const limits = { reach: closed, lookup: notAsked };
    for (const host of spellingsOf(address))
      for (const url of [`https://${host}/`, `HTTPS://${host}:8443/hook`]) {
        expect(await outboundUrlProblem(url, closed, isPublic), url).toBe('does not lead to a public address');
        await expect(ask(url, limits), url).rejects.toThrow('its address must not be asked');
      }
  },
);

const notAsked: LookupFunction = (host) => {
  throw new Error(`${host} was looked up`);
};

describe('a URL of a customer is refused', () => {
  const at = (address: string) => () => Promise.resolve([address]);
  test.each([
    ['not a URL', 'must be a URL such as https://example.com/path'],
    ['http://example.com/', 'does not begin with https://'],
    ['ftp://example.com/', 'does not begin with https://'],
    ['https://user:secret@example.com/', 'contains credentials, which would be stored readable'],
    ['https://example.com/#part', 'has a fragment, which is not sent'],
    ['https://127.0.0.1/', 'does not lead to a public address'],
    ['https://[::1]/', 'does not lead to a public address'],
    ['https://2130706433/', 'does not lead to a public address'],
    ['https://0x7f.1/', 'does not lead to a public address'],
    ['https://169.254.169.254/latest/meta-data', 'does not lead to a public address'],
    ['https://localhost/', 'does not lead to a public address'],
    ['https://intranet/', 'does not lead to a public address'],
    ['https://metadata.google.internal/', 'does not lead to a public address'],
    ['https://printer.local./', 'does not lead to a public address'],
  ])('%s', async (url, problem) => {
    expect(await outboundUrlProblem(url, closed, at('93.184.216.34'))).toBe(problem);
  });

  test('when one of its addresses is private, or it has none', async () => {
    const url = 'https://hooks.example.com/';
    expect(await outboundUrlProblem(url, closed, at('93.184.216.34'))).toBeUndefined();
    expect(await outboundUrlProblem(url, closed, () => Promise.resolve(['93.184.216.34', '10.0.0.1']))).toBe(
      'does not lead to a public address',
    );
    expect(await outboundUrlProblem(url, closed, () => Promise.reject(new Error('ENOTFOUND')))).toBe(
      'has a host name that cannot be resolved',
    );
  });

  test('but not a private one where the configuration allows it', async () => {
    expect(await outboundUrlProblem(sink.url, open)).toBeUndefined();
  });
});

describe('names of customers', () => {
  let dns: DnsServer;
  beforeAll(async () => {
    dns = await DnsServer.start();
    dns.zone.set('hooks.example.com', { a: ['93.184.216.34'] });
    dns.zone.set('rebound.example.com', { a: ['127.0.0.1'] });
    dns.zone.set('mixed.example.com', { a: ['93.184.216.34', '10.0.0.1'] });
    dns.zone.set('silent.example.com', 'silent');
  });
  afterAll(() => dns.close());

  test('are resolved by name servers, and those that nobody answers for hold up no others', async () => {
    const network = { nameServers: [dns.address], limitMs: 600 };
    const silent = Array.from({ length: 50 }, () => resolveByDns('silent.example.com', network).catch(() => 'silent'));
    const first = await Promise.race([...silent, resolveByDns('hooks.example.com', network)]);
    expect(first).toEqual(['93.184.216.34']);
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['silent']));
    await expect(resolveByDns('missing.example.com', network)).rejects.toThrow('ENOTFOUND');
  });

  test('that lead to a private address are not asked', async () => {
    const network = { nameServers: [dns.address] };
    const limits = { reach: closed, lookup: lookupByDns(network) };
    const { port } = new URL(sink.url);
    await expect(ask(`https://rebound.example.com:${port}/`, limits)).rejects.toThrow('its address must not be asked');
    await expect(ask(`https://missing.example.com:${port}/`, limits)).rejects.toThrow('it cannot be reached');
    expect(await outboundUrlProblem('https://mixed.example.com/', closed, (host) => resolveByDns(host, network))).toBe(
      'does not lead to a public address',
    );
    expect(sink.received).toEqual([]);
  });
});

describe('a request', () => {
  test('sends its body and reads the answer', async () => {
    sink.answer = () => ({ status: 201, headers: { 'x-answer': 'yes' }, body: 'made' });
    const { status, headers, body } = await ask();
    expect({ status, answer: headers['x-answer'], body: String(body) }).toEqual({
      status: 201,
      answer: 'yes',
      body: 'made',
    });
    expect(sink.received).toMatchObject([{ body: 'hello', headers: { 'accept-encoding': 'identity' } }]);
  });

  test('to a private address is refused without configuration, and nothing arrives', async () => {
    await expect(ask(sink.url, { reach: closed })).rejects.toThrow('its URL does not begin with https://');
    await expect(ask(sink.url.replace('http:', 'https:'), { reach: closed })).rejects.toThrow(
      'its address must not be asked',
    );
    expect(sink.received).toEqual([]);
  });

  test('goes to the address that was checked, though the name has another one by then', async () => {
    const asked: string[] = [];
    const rebinding =
      (address: string): LookupFunction =>
      (host, _options, done) => {
        asked.push(host);
        done(null, [{ address, family: 4 }]);
      };
    const { port } = new URL(sink.url);
    const named = `http://hooks.example.com:${port}/hook`;
    expect((await ask(named, { lookup: rebinding('127.0.0.1') })).status).toBe(204);
    const closedly = { reach: closed, lookup: rebinding('127.0.0.1') };
    await expect(ask(`https://hooks.example.com:${port}/`, closedly)).rejects.toThrow('its address must not be asked');
    expect(asked).toEqual(['hooks.example.com', 'hooks.example.com']);
    expect(sink.received).toHaveLength(1);
  });

  test.each([301, 302, 303, 307, 308])('T-82: follows no redirect (%s), wherever it leads', async (status) => {
    for (const location of ['/elsewhere', `${sink.url}/other`, sink.url.replace('http:', ''), 'file:///etc/passwd']) {
      sink.received.length = 0;
      sink.answer = ({ path }) => (path === '/hook' ? { status, headers: { location } } : { status: 200 });
      expect((await ask()).status).toBe(status);
      expect(sink.received.map(({ path }) => path)).toEqual(['/hook']);
    }
  });

  test('uses no proxy of the environment', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.1:9',
      http_proxy: 'http://127.0.0.1:9',
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      expect((await ask()).status).toBe(204);
    } finally {
      process.env = before;
    }
  });

  test('that nobody answers ends in time, also when the answer has begun', async () => {
    sink.answer = () => ({ status: 200, hangs: true });
    await expect(ask(sink.url, { timeoutMs: 200 })).rejects.toThrow('it does not answer within 0.2 seconds');
  });

  test('that is answered with another protocol fails, and nobody waits for more', async () => {
    const answer = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(answer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      await expect(ask(`http://127.0.0.1:${port}/`)).rejects.toThrow('it switches to another protocol');
    } finally {
      server.close();
    }
  });

  test('ends when the answer is too large, and undoes no compression', async () => {
    sink.answer = () => ({ status: 200, body: Buffer.alloc(70_000) });
    await expect(ask()).rejects.toThrow('its answer has more than 65536 bytes');
    sink.answer = () => ({ status: 200, body: Buffer.alloc(60_000, 'a') });
    expect(String((await ask(sink.url, { keptBytes: 3 })).body)).toBe('aaa');
    await expect(ask(sink.url, { keptBytes: 3, maxBytes: 50_000 })).rejects.toThrow('has more than 50000 bytes');
    const bomb = gzipSync(Buffer.alloc(30_000_000));
    sink.answer = () => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: bomb });
    const { body } = await ask();
    expect(body.equals(bomb)).toBe(true);
  });

  test('to a port where nobody listens says so', async () => {
    await expect(ask('http://127.0.0.1:9/')).rejects.toThrow('it cannot be reached (ECONNREFUSED)');
  });
});
