import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import proto from '@temporalio/proto';
import { EncryptingCodec } from '#activities/clients/temporal/payload-codec.ts';

interface CodecServerOptions {
  readonly host: string;
  readonly port: number;
  /** Origins of the Temporal UIs that may call it from a browser; requests of other origins are refused. */
  readonly origins: readonly string[];
  /** Read at each request, so that the server can start before the configuration. */
  readonly encryptionKey: () => Promise<string> | string;
}

/** Size limit of a request body, in bytes: a history page of the UI. */
const maxBodyBytes = 8 * 1024 * 1024;

class BodyTooLarge extends Error {}

const { Payload, Payloads } = proto.temporal.api.common.v1;

/**
 * Decrypts workflow payloads for the Temporal UI (remote codec protocol: POST /decode and /encode with `{ payloads }`).
 * Everybody who can reach it can read all payloads, so it must listen on loopback or behind an authenticating gateway.
 */
export async function startCodecServer(options: CodecServerOptions): Promise<Server> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : 'the payloads could not be read';
      send(response, error instanceof BodyTooLarge ? 413 : 400, { message });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return server;
}

async function answer(request: IncomingMessage, response: ServerResponse, options: CodecServerOptions): Promise<void> {
  const { origin } = request.headers;
  if (origin !== undefined && !options.origins.includes(origin)) {
    send(response, 403, { message: `${origin} may not use this codec server` });
    return;
  }
  if (origin !== undefined) {
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-allow-credentials', 'true');
    response.setHeader(
      'access-control-allow-headers',
      'content-type, x-namespace, authorization, authorization-extras',
    );
    response.setHeader('vary', 'origin');
  }
  if (request.method === 'OPTIONS') {
    response.writeHead(204).end();
    return;
  }
  const path = request.url?.split('?', 1)[0] ?? '';
  const [, direction] = /\/(decode|encode)$/.exec(path) ?? [];
  if (request.method !== 'POST' || !direction) {
    send(response, 404, { message: 'POST payloads to /decode or /encode' });
    return;
  }
  const codec = new EncryptingCodec(await options.encryptionKey());
  const { payloads } = payloadsIn(await bodyOf(request));
  const converted = direction === 'decode' ? await codec.decode(payloads) : await codec.encode(payloads);
  send(response, 200, {
    payloads: converted.map((payload) => Payload.toObject(Payload.create(payload), { bytes: String })),
  });
}

function payloadsIn(body: string) {
  const given: unknown = JSON.parse(body);
  // The JSON form of Protocol Buffers leaves out an empty list: `temporal workflow metadata` sends `{}`.
  const isEmpty = isObject(given) && Object.keys(given).length === 0;
  const payloads = isEmpty ? [] : isObject(given) && given['payloads'];
  if (!Array.isArray(payloads)) throw new Error('the body is not of the form { "payloads": [ … ] }');
  payloads.forEach(refuseOtherBytes);
  return Payloads.fromObject({ payloads });
}

/** Only base64 is accepted for bytes: the decoder would also take a `length` and allocate as much as it says. */
function refuseOtherBytes(payload: unknown, index: number): void {
  if (!isObject(payload)) throw new Error(`payload ${index} is not an object`);
  const { data = '', metadata = {} } = payload;
  if (!isObject(metadata)) throw new Error(`metadata of payload ${index} is not an object`);
  for (const [name, value] of [['data', data], ...Object.entries(metadata)] as const) {
    if (typeof value !== 'string' || !base64.test(value)) throw new Error(`${name} of payload ${index} is not base64`);
  }
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/u;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read to the end: a client that is still sending would not read the response.
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size > maxBodyBytes) throw new BodyTooLarge(`the body is larger than ${maxBodyBytes} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
