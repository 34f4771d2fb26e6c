import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { outboundUrlProblem } from '#activities/clients/outbound/check-outbound-url.ts';
import { customerReach } from '#activities/clients/outbound/customer-reach.ts';
import { outboundRequest } from '#activities/clients/outbound/outbound-request.ts';
import type { Reach } from '#activities/clients/outbound/reachable-addresses.ts';
import { lookupByDns, resolveByDns } from '#activities/clients/outbound/resolve-by-dns.ts';
import type { Config } from '#config/objects/root.ts';
import { DnsServer, type DnsRecords } from '../kit/servers/dns-server.ts';

const closed = customerReach({ workflows: { webhookallowprivateaddresses: false } as Config['workflows'] });
const publicAddress = '93.184.216.34';
const notPublic = 'does not lead to a public address';
const notAsked = 'its address must not be asked';

let dns: DnsServer;
/** What must not be reached: it listens on both loopback addresses under one port. */
let victims: Server[];
let port: number;
let connections = 0;

beforeAll(async () => {
  dns = await DnsServer.start();
  const open = async (host: string, at: number) => {
    const server = createServer((socket) => {
      connections++;
      socket.on('error', () => {});
      socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    }).listen(at, host);
    await once(server, 'listening');
    return server;
  };
  const first = await open('127.0.0.1', 0);
  ({ port } = first.address() as AddressInfo);
  victims = [first, await open('::1', port)];
});
afterAll(async () => {
  for (const server of victims) server.close();
  await dns.close();
});
beforeEach(() => {
  connections = 0;
  dns.asked.length = 0;
});

const network = () => ({ nameServers: [dns.address] });

/** What is found to be wrong with the name when an endpoint is saved. */
const problemOf = (host: string) =>
  outboundUrlProblem(`https://${host}:${port}/`, closed, (name) => resolveByDns(name, network()));

/** An attempt to send to it. */
const attempt = (host: string, reach: Reach = closed, scheme = 'https') =>
  outboundRequest(
    `${scheme}://${host}:${port}/`,
    { method: 'POST', headers: {}, body: 'message' },
    { reach, timeoutMs: 2_000, maxBytes: 1_000, lookup: lookupByDns(network()) },
  );

const forbidden: readonly (readonly [string, DnsRecords])[] = [
  ['to this machine', { a: ['127.0.0.1'] }],
  ['to this machine over IPv6 only', { aaaa: ['::1'] }],
  ['to the IPv4 loopback address written as IPv6', { aaaa: ['::ffff:127.0.0.1'] }],
  ['to several private addresses', { a: ['10.0.0.1', '127.0.0.1'], aaaa: ['::1', 'fc00::1'] }],
  ['to the metadata of a cloud', { a: ['169.254.169.254'] }],
];

describe('T-80: a name that leads', () => {
  test.each(forbidden)('%s is refused when it is saved, and at each attempt', async (_where, records) => {
    dns.zone.set('hooks.example.com', records);
    expect(await problemOf('hooks.example.com')).toBe(notPublic);
    await expect(attempt('hooks.example.com')).rejects.toThrow(notAsked);
    expect(connections).toBe(0);
  });

  test.each(forbidden)('%s by two aliases is refused in the same way', async (_where, records) => {
    dns.zone.set('hooks.example.com', { cname: 'alias.example.net' });
    dns.zone.set('alias.example.net', { cname: 'inner.example.org' });
    dns.zone.set('inner.example.org', records);
    expect(await problemOf('hooks.example.com')).toBe(notPublic);
    await expect(attempt('hooks.example.com')).rejects.toThrow(notAsked);
    expect(connections).toBe(0);
  });

  test.each(forbidden)('to a public address when it is saved, and later %s, is not asked', async (_where, records) => {
    dns.zone.set('hooks.example.com', { a: [publicAddress] });
    expect(await problemOf('hooks.example.com')).toBeUndefined();
    dns.zone.set('hooks.example.com', records);
    await expect(attempt('hooks.example.com')).rejects.toThrow(notAsked);
    expect(connections).toBe(0);
  });

  test.each(forbidden)(
    'to a public address and %s is refused when it is saved',
    async (_where, { a = [], aaaa = [] }) => {
      dns.zone.set('hooks.example.com', { a: [publicAddress, ...a], aaaa });
      expect(await problemOf('hooks.example.com')).toBe(notPublic);
    },
  );

  test('to an address that may be asked and to others is asked at that one only', async () => {
    // As if loopback were public: nothing outside of this machine takes part.
    const reach = { loopback: true };
    dns.zone.set('hooks.example.com', {
      a: ['10.0.0.1', '169.254.169.254', '127.0.0.1', '0.0.0.0'],
      aaaa: ['fc00::1'],
    });
    expect((await attempt('hooks.example.com', reach, 'http')).status).toBe(204);
    expect(connections).toBe(1);
  });

  test('anywhere is resolved once for each attempt: what is checked is what is connected to', async () => {
    dns.zone.set('hooks.example.com', { a: ['127.0.0.1'] });
    await attempt('hooks.example.com', { loopback: true }, 'http');
    await expect(attempt('hooks.example.com')).rejects.toThrow(notAsked);
    // IPv4 and IPv6, for two attempts.
    expect(dns.asked.toSorted()).toEqual([1, 1, 28, 28].map((type) => `${type} hooks.example.com`));
  });
});
