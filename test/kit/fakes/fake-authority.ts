import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { calculateJwkThumbprint, flattenedVerify, importJWK, type FlattenedJWS, type JWK } from 'jose';
import { trustedCertificate, TestIssuer } from '../servers/certificates.ts';

interface Options {
  /** The one name for which it issues certificates, and the port of this machine at which it looks for the proof. */
  readonly name: string;
  readonly port: number;
}

interface Reply {
  readonly status: number;
  readonly body?: object | string;
  readonly location?: string;
}

const lifetimeMs = 90 * 86_400_000;

/** Extension acmeIdentifier (RFC 8737, section 3), critical, before the digest that it contains. */
const acmeIdentifier = Buffer.from('06082b0601050507011f0101ff04220420', 'hex');

/**
 * A certificate authority (ACME, RFC 8555) with one account and one order at a time, for `npm test`; `npm run prove` has a real one. It
 * verifies signatures, nonces and the proof (tls-alpn-01), and signs certificates.
 */
export class FakeAuthority {
  readonly issuer = new TestIssuer(lifetimeMs);
  /** How many orders it has taken. */
  orders = 0;
  readonly #options: Options;
  readonly #nonces = new Set<string>();
  readonly #server: Server;
  #url = '';
  #account: JWK | undefined;
  #token = '';
  #status: 'pending' | 'valid' | 'invalid' = 'pending';
  #issued: string | undefined;

  private constructor(options: Options) {
    this.#options = options;
    const { cert, key } = trustedCertificate();
    this.#server = createServer({ cert, key }, (request, response) => {
      this.#send(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: Options): Promise<FakeAuthority> {
    const authority = new FakeAuthority(options);
    authority.#server.listen(0, '127.0.0.1');
    await once(authority.#server, 'listening');
    authority.#url = `https://127.0.0.1:${(authority.#server.address() as AddressInfo).port}`;
    return authority;
  }

  get directoryUrl(): string {
    return `${this.#url}/directory`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = await this.#reply(request).catch((error: unknown) => refusal('malformed', String(error)));
    const { status, body = '', location } = reply;
    const nonce = randomBytes(16).toString('base64url');
    this.#nonces.add(nonce);
    const isText = typeof body === 'string';
    response.writeHead(status, {
      'replay-nonce': nonce,
      'content-type': isText ? 'application/pem-certificate-chain' : 'application/json',
      ...(location === undefined ? {} : { location }),
    });
    response.end(isText ? body : JSON.stringify(body));
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    const url = this.#url;
    if (request.url === '/directory')
      return {
        status: 200,
        body: { newNonce: `${url}/nonce`, newAccount: `${url}/account`, newOrder: `${url}/order` },
      };
    if (request.url === '/nonce') return { status: 200 };
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    return this.#answer(request.url ?? '', JSON.parse(Buffer.concat(chunks).toString()) as FlattenedJWS);
  }

  async #answer(path: string, signed: FlattenedJWS): Promise<Reply> {
    const { payload, protectedHeader: header = { alg: '' } } = await flattenedVerify(signed, async (unverified) => {
      const account = path === '/account' ? unverified?.jwk : this.#account;
      if (!account) throw new Error('no account');
      return importJWK(account, 'ES256');
    });
    if (!this.#nonces.delete(String(header['nonce']))) return refusal('badNonce', 'used or unknown');
    if (header['url'] !== `${this.#url}${path}`) return refusal('unauthorized', 'signed for another URL');
    const content = (payload.length === 0 ? {} : JSON.parse(Buffer.from(payload).toString())) as {
      readonly identifiers?: readonly { readonly value: string }[];
      readonly csr?: string;
    };
    switch (path) {
      case '/account':
        this.#account = header.jwk;
        return { status: 201, body: { status: 'valid' }, location: `${this.#url}/accounts/1` };
      case '/order':
        if (content.identifiers?.length !== 1 || content.identifiers[0]?.value !== this.#options.name)
          return refusal('rejectedIdentifier', 'another name');
        this.orders += 1;
        this.#token = randomBytes(32).toString('base64url');
        this.#status = 'pending';
        this.#issued = undefined;
        return { status: 201, body: this.#order(), location: `${this.#url}/orders/1` };
      case '/orders/1':
        return { status: 200, body: this.#order() };
      case '/authorization':
        return { status: 200, body: this.#authorization() };
      case '/challenge':
        if (signed.payload !== '') this.#status = (await this.#seesProof()) ? 'valid' : 'invalid';
        return { status: 200, body: this.#challenge() };
      case '/finalize':
        if (this.#status !== 'valid') return refusal('orderNotReady', 'there is no proof');
        this.#issued = this.issuer.issue(this.#options.name, Buffer.from(content.csr ?? '', 'base64url'));
        return { status: 200, body: this.#order() };
      case '/certificate':
        return this.#issued === undefined ? refusal('malformed', 'not issued') : { status: 200, body: this.#issued };
      default:
        return refusal('malformed', `nothing is at ${path}`);
    }
  }

  #order(): object {
    return {
      status: this.#issued === undefined ? (this.#status === 'valid' ? 'ready' : this.#status) : 'valid',
      identifiers: [this.#identifier],
      authorizations: [`${this.#url}/authorization`],
      finalize: `${this.#url}/finalize`,
      ...(this.#issued === undefined ? {} : { certificate: `${this.#url}/certificate` }),
    };
  }

  #authorization(): object {
    return { status: this.#status, identifier: this.#identifier, challenges: [this.#challenge()] };
  }

  #challenge(): object {
    return { type: 'tls-alpn-01', url: `${this.#url}/challenge`, token: this.#token, status: this.#status };
  }

  get #identifier(): object {
    return { type: 'dns', value: this.#options.name };
  }

  /** Whether the port shows, for the protocol of proofs, a certificate with the digest of token and account. */
  async #seesProof(): Promise<boolean> {
    const { name, port } = this.#options;
    const thumbprint = await calculateJwkThumbprint(this.#account ?? {});
    const digest = createHash('sha256').update(`${this.#token}.${thumbprint}`).digest();
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername: name,
      ALPNProtocols: ['acme-tls/1'],
      rejectUnauthorized: false,
    });
    try {
      await once(socket, 'secureConnect');
      const shown = socket.getPeerX509Certificate();
      return (
        socket.alpnProtocol === 'acme-tls/1' &&
        shown?.subjectAltName === `DNS:${name}` &&
        shown.raw.includes(Buffer.concat([acmeIdentifier, digest]))
      );
    } catch {
      return false; // Nobody answers at the port.
    } finally {
      socket.destroy();
    }
  }
}

function refusal(type: string, detail: string): Reply {
  return { status: 400, body: { type: `urn:ietf:params:acme:error:${type}`, detail } };
}
