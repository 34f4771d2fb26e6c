import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';

/** Fault of a request, in place of passing it on or after it. */
export type StorageFault =
  /** The server never sees it. */
  | { readonly status: number }
  /** It is not answered until the proxy closes. */
  | 'hang'
  /** It is answered byte by byte, one each so many milliseconds, without end. */
  | { readonly dripEveryMs: number }
  /** The connection ends after so many bytes of the answer. */
  | { readonly cutAnswerAfter: number }
  /** The connection ends after so many bytes of the request. */
  | { readonly cutRequestAfter: number }
  /** The answer has another header, and in its body another text in place of one. */
  | { readonly header: readonly [string, string]; readonly body?: readonly [RegExp, string] };

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A proxy before a real server of object storage. The header Host stays as it was sent, so signatures hold. */
export interface StorageProxy {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Applies to the next requests for which `matches` is true. */
  inject(fault: StorageFault, matches: (request: SeenRequest) => boolean, times?: number): void;
  /** Connections of clients that are open. */
  connections(): Promise<number>;
  /** Requests that hang are ended, and no fault applies any more. */
  heal(): void;
  close(): Promise<void>;
}

export interface StorageProxyOptions {
  /** As edge platforms do: the parts of an upload but its last must have one size. */
  readonly refusesUnequalParts?: boolean;
}

export async function openStorageProxy(
  target: string,
  { refusesUnequalParts = false }: StorageProxyOptions = {},
): Promise<StorageProxy> {
  const partSizes = new PartSizes();
  const hanging = new Set<ServerResponse>();
  const seen: SeenRequest[] = [];
  const faults: { fault: StorageFault; matches: (request: SeenRequest) => boolean; left: number }[] = [];
  const { hostname, port } = new URL(target);

  const server = createServer((request, answer) => {
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers };
    seen.push(one);
    if (refusesUnequalParts && partSizes.refuse(one)) {
      request.resume();
      const refusal =
        '<Error><Code>InvalidPart</Code><Message>All non-trailing parts must have the same length.</Message></Error>';
      answer.writeHead(400, { 'content-type': 'application/xml' }).end(refusal);
      return;
    }
    const found = faults.find(({ left, matches }) => left > 0 && matches(one));
    if (found) found.left -= 1;
    const fault = found?.fault;
    if (fault === 'hang') {
      hanging.add(answer);
      return;
    }
    if (fault && 'dripEveryMs' in fault) {
      request.resume();
      drip(request.socket, fault.dripEveryMs);
      return;
    }
    if (fault && 'status' in fault) {
      request.resume();
      answer.writeHead(fault.status, { 'content-length': 0 }).end();
      return;
    }
    pass(request, answer, fault);
  });

  function pass(request: IncomingMessage, answer: ServerResponse, fault: StorageFault | undefined): void {
    const { method, url, headers } = request;
    const passed = send({ hostname, port, method, path: url, headers }, (response) => {
      const chunks: Buffer[] = [];
      const own = { ...response.headers };
      if (typeof fault === 'object' && 'header' in fault) {
        const [name, value] = fault.header;
        own[name] = value;
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const changed = fault.body ? text.replace(...fault.body) : text;
          delete own['content-length'];
          answer.writeHead(response.statusCode ?? 502, own).end(changed);
        });
        return;
      }
      answer.writeHead(response.statusCode ?? 502, own);
      if (typeof fault !== 'object' || !('cutAnswerAfter' in fault)) {
        response.pipe(answer);
        return;
      }
      let left = fault.cutAnswerAfter;
      response.on('data', (chunk: Buffer) => {
        answer.write(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) answer.destroy();
      });
    });
    passed.on('error', () => answer.destroy());
    if (typeof fault !== 'object' || !('cutRequestAfter' in fault)) {
      request.pipe(passed);
      return;
    }
    let left = fault.cutRequestAfter;
    request.on('data', (chunk: Buffer) => {
      passed.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) {
        passed.destroy();
        answer.destroy();
      }
    });
  }

  // Only clients end their connections.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    inject: (fault, matches, times = 1) => void faults.push({ fault, matches, left: times }),
    connections: () => promisify(server.getConnections.bind(server))(),
    heal: () => {
      faults.length = 0;
      for (const answer of hanging) answer.destroy();
      hanging.clear();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Begins an answer whose headers never end. */
function drip(socket: Socket, everyMs: number): void {
  socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => socket.write('a'), everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Sizes of the parts of uploads that have not been finished. */
class PartSizes {
  readonly #uploads = new Map<string, Map<number, number>>();

  /** Notes a part. @returns whether the request finishes an upload whose parts are of unequal size */
  refuse({ method, url, headers }: SeenRequest): boolean {
    const { searchParams } = new URL(url, 'http://x');
    const id = searchParams.get('uploadId');
    if (id === null) return false;
    const sizes = this.#uploads.get(id) ?? new Map<number, number>();
    this.#uploads.set(id, sizes);
    if (method === 'PUT') sizes.set(Number(searchParams.get('partNumber')), sizeOfPart(headers));
    if (method !== 'POST') return false;
    const inOrder = [...sizes].toSorted(([one], [other]) => one - other).map(([, size]) => size);
    const [first = 0] = inOrder;
    return inOrder.some((size, index) => (index === inOrder.length - 1 ? size > first : size !== first));
  }
}

/** Of a part that is sent, or copied from another object. */
function sizeOfPart(headers: IncomingMessage['headers']): number {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(headers['x-amz-copy-source-range'])) ?? [];
  return first === undefined ? Number(headers['content-length']) : Number(last) - Number(first) + 1;
}
