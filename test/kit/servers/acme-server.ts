import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acmeBinary } from '#temporal-dev/binaries/acme-binary.ts';
import { findBinary } from '#temporal-dev/binaries/find-binary.ts';
import { trustedCertificate } from './certificates.ts';
import { DnsServer } from './dns-server.ts';
import { eventually } from '../eventually.ts';
import { AcmeProxy } from '../fakes/acme-proxy.ts';
import { freePorts } from './free-ports.ts';
import { searchContext } from '../object-stores.ts';

const host = '127.0.0.1';

interface Options {
  /** Names that the authority finds at this machine, and no others. */
  readonly names: readonly string[];
  /** Lifetime of its certificates, in seconds. */
  readonly lifetimeS?: number;
  /** Accounts that it takes, each with its key in base64url; it takes no others. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
}

/**
 * A certificate authority (pebble) with a name server of its own, behind a proxy that can make it fail and lie. It looks for proofs on
 * one port of this machine. This process trusts its own TLS, not what it issues.
 */
export class AcmeServer {
  readonly proxy: AcmeProxy;
  /** Where it looks for proofs. */
  readonly port: number;
  readonly dns: DnsServer;
  readonly #ports: readonly [listen: number, manage: number];
  readonly #folder: string;
  readonly #binary: string;
  #child: ChildProcess | undefined;

  private constructor(
    binary: string,
    folder: string,
    { proxy, dns, ports }: { proxy: AcmeProxy; dns: DnsServer; ports: readonly [number, number, number] },
  ) {
    this.#binary = binary;
    this.#folder = folder;
    this.proxy = proxy;
    this.dns = dns;
    this.#ports = [ports[0], ports[1]];
    this.port = ports[2];
  }

  static async start({ names, lifetimeS = 7_776_000, externalAccounts }: Options): Promise<AcmeServer> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'core-acme-')));
    const { path } = await findBinary(
      acmeBinary,
      searchContext(folder, (line) => console.log(`acme: ${line}`)),
    );
    const { cert, key } = trustedCertificate();
    const dns = await DnsServer.start();
    for (const name of names) dns.zone.set(name, { a: [host] });
    const ports = (await freePorts(3)) as [number, number, number];
    const proxy = await AcmeProxy.start({ cert, key, target: ports[0] });
    const server = new AcmeServer(path, folder, { proxy, dns, ports });
    const config = {
      listenAddress: `${host}:${ports[0]}`,
      managementListenAddress: `${host}:${ports[1]}`,
      certificate: join(folder, 'cert.pem'),
      privateKey: join(folder, 'key.pem'),
      httpPort: ports[2],
      tlsPort: ports[2],
      retryAfter: { authz: 1, order: 1 },
      keyAlgorithm: 'ecdsa',
      profiles: { default: { description: 'of this test', validityPeriod: lifetimeS } },
      ...(externalAccounts ? { externalAccountBindingRequired: true, externalAccountMACKeys: externalAccounts } : {}),
    };
    await writeFile(config.certificate, cert);
    await writeFile(config.privateKey, key);
    await writeFile(join(folder, 'config.json'), JSON.stringify({ pebble: config }));
    await server.#run();
    return server;
  }

  get directoryUrl(): string {
    return `${this.proxy.url}/dir`;
  }

  /** Certificate of the root of what it has issued since it was started last, in PEM. */
  async root(): Promise<string> {
    return this.#get(`https://${host}:${this.#ports[1]}/roots/0`);
  }

  /** It forgets accounts and orders. */
  async restart(): Promise<void> {
    await this.#kill();
    await this.#run();
  }

  async close(): Promise<void> {
    await this.#kill();
    await this.proxy.close();
    await this.dns.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #run(): Promise<void> {
    const child = spawn(this.#binary, ['-config', join(this.#folder, 'config.json'), '-dnsserver', this.dns.address], {
      env: { PEBBLE_VA_NOSLEEP: '1', PEBBLE_AUTHZREUSE: '0', PEBBLE_WFE_NONCEREJECT: '20' },
      stdio: 'ignore',
    });
    this.#child = child;
    process.once('exit', this.#killWithTests);
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`pebble ended with ${child.exitCode}`);
      return (await this.#get(`https://${host}:${this.#ports[0]}/dir`).catch(() => '')) !== '';
    });
  }

  readonly #killWithTests = () => this.#child?.kill('SIGKILL');

  async #kill(): Promise<void> {
    process.off('exit', this.#killWithTests);
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  #get(url: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request(url, { agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve(text));
      });
      asked.once('error', reject);
      asked.end();
    });
  }
}
