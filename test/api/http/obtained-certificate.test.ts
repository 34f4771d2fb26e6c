import type { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { FakeAuthority } from '../../kit/fakes/fake-authority.ts';
import { freePorts } from '../../kit/servers/free-ports.ts';
import { http2Connection, http2Request } from '../../kit/http/http2-client.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const name = 'api.example.test';
const day = 86_400_000;

let world: World;
let port: number;
let authority: FakeAuthority;
const instances: Instance[] = [];
beforeEach(async () => {
  world = await openWorld();
  [port = 0] = await freePorts(1);
  authority = await FakeAuthority.start({ name, port });
});
afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.stopServing()));
  await authority.close();
  await world.close();
});

/** Address of a process that has its certificate. */
async function serve(at: number): Promise<string> {
  const instance = await world.openInstance({
    environment: {
      CORE_SERVER_TLS_ENABLED: 'true',
      CORE_SERVER_TLS_AUTOCERT: 'true',
      CORE_SERVER_LISTEN: `127.0.0.1:${at}`,
      CORE_INTEGRATIONS_EMAIL_APIURL: `https://${name}`,
    },
    certificates: {
      authority: { directoryUrl: authority.directoryUrl },
      times: { poll: 50, firstPoll: 50, start: 30_000 },
    },
  });
  instances.push(instance);
  return (await instance.listen()).url;
}

/** The certificate that a client gets that trusts the authority alone, and the protocol that was agreed on. */
async function shown(url: string, protocol = 'http/1.1') {
  const { hostname, port: at } = new URL(url);
  const options = { host: hostname, port: Number(at), servername: name, ca: authority.issuer.root };
  return new Promise<{ certificate: X509Certificate | undefined; protocol: string | false | null }>(
    (resolve, reject) => {
      const socket = connect({ ...options, ALPNProtocols: [protocol] }, () => {
        resolve({ certificate: socket.getPeerX509Certificate(), protocol: socket.alpnProtocol });
        socket.destroy();
      });
      socket.once('error', reject);
    },
  );
}

test('autocert: the listener shows the certificate of an authority that has seen its proof, over HTTP/1.1 and HTTP/2', async () => {
  shows('server.tls.autocert');
  const url = await serve(port);
  const { certificate, protocol } = await shown(url);
  expect(protocol).toBe('http/1.1');
  expect(certificate?.subjectAltName).toBe(`DNS:${name}`);
  const session = await http2Connection(url, authority.issuer.root, { servername: name });
  expect((await http2Request(session, { ':path': '/livez' })).status).toBe(200);
  session.close();
});

test('autocert: no certificate comes from an authority that finds no proof at the port of the name', async () => {
  const [other = 0] = await freePorts(1);
  const starting = serve(other);
  await eventually(() => world.logs.some(({ msg }) => String(msg).startsWith('no certificate: the authority')));
  expect(authority.orders).toBe(1);
  await Promise.all(instances.splice(0).map((instance) => instance.stopServing()));
  await starting.catch(() => {});
});

test('autocert: processes share a certificate, which is renewed in time and replaced in all of them', async () => {
  const urls = [await serve(port), await serve(0)];
  const serials = async () =>
    new Set(await Promise.all(urls.map(async (url) => (await shown(url)).certificate?.serialNumber)));
  const before = await serials();
  expect(before.size).toBe(1);
  expect(authority.orders).toBe(1);
  world.clock.advance(61 * day);
  await eventually(async () => {
    const after = await serials();
    return after.size === 1 && after.isDisjointFrom(before);
  });
  expect(authority.orders).toBe(2);
});
