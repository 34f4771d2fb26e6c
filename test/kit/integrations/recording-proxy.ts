import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request to a SCIM service, and the status of its answer. */
export interface RecordedRequest {
  readonly method: string;
  /** Below the base of the service. */
  readonly path: string;
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly status: number;
  /** Id of the resource that it has created. */
  readonly createdId?: string;
}

export interface RecordingProxy {
  readonly url: string;
  /** In order. */
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Passes requests on to a SCIM service, and notes them. @param target base of the service */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url: path = '', headers } = request;
      const body = await buffer(request);
      const { host: _host, connection: _connection, 'content-length': _length, ...passed } = headers;
      const answer = await fetch(target + path, {
        method,
        headers: passed as Record<string, string>,
        ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
      });
      const text = await answer.text();
      const ifMatch = headers['if-match'];
      requests.push({
        method,
        path,
        ...(body.length > 0 ? { body: parsed(body.toString()) } : {}),
        ...(ifMatch === undefined ? {} : { ifMatch }),
        status: answer.status,
        ...(answer.status === 201 ? { createdId: (JSON.parse(text) as { readonly id: string }).id } : {}),
      });
      const kept = [...answer.headers].filter(([name]) => !['connection', 'content-length', 'date'].includes(name));
      response.writeHead(answer.status, Object.fromEntries(kept)).end(text);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A body that is no JSON stays a text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
