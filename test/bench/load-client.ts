import { createHmac, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Load, LoadRequest, LoadResult } from './load-generator.ts';

/**
 * Makes load over kept connections. It reads no more of an answer than its status and its length, so that it takes little
 * of the machine that it shares with what it measures.
 */
process.on('message', (load: Load) => {
  void run(load).then((result) => process.send?.(result));
});

async function run({ url, requests, clients, forMs }: Load): Promise<LoadResult> {
  const { host, hostname, port } = new URL(url);
  const texts = requests.map((request) => (request.svixSecret === undefined ? textOf(request, host) : undefined));
  const refused: Record<string, number> = {};
  let [next, answers] = [0, 0];
  const startedAt = performance.now();
  const until = startedAt + forMs;
  const oneClient = async () => {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    const answer = reader(socket);
    while (performance.now() < until) {
      const place = next++ % texts.length;
      socket.write(texts[place] ?? textOf(requests[place] as LoadRequest, host));
      const status = await answer();
      if (/ 2\d\d /.test(status)) answers++;
      else refused[status] = (refused[status] ?? 0) + 1;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: clients }, oneClient));
  return { answers, answersPerSecond: answers / ((performance.now() - startedAt) / 1_000), refused };
}

function textOf(
  { method, path, token, cookie, csrfToken, origin, range, body, svixSecret }: LoadRequest,
  host: string,
): Buffer {
  const payload = body === undefined ? '' : JSON.stringify(body);
  return Buffer.from(
    [
      `${method} ${path} HTTP/1.1`,
      `host: ${host}`,
      'accept: application/json',
      ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
      ...(cookie === undefined ? [] : [`cookie: ${cookie}`]),
      ...(csrfToken === undefined ? [] : [`x-csrf-token: ${csrfToken}`]),
      ...(origin === undefined ? [] : [`origin: ${origin}`]),
      ...(range === undefined ? [] : [`range: ${range}`]),
      ...(svixSecret === undefined ? [] : signatureOf(payload, svixSecret)),
      ...(body === undefined
        ? []
        : ['content-type: application/json', `content-length: ${Buffer.byteLength(payload)}`]),
      '',
      payload,
    ].join('\r\n'),
  );
}

/** Headers of a signed request. */
function signatureOf(payload: string, secret: string): string[] {
  const [id, timestamp] = [randomUUID(), String(Math.floor(Date.now() / 1_000))];
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64');
  return [`svix-id: ${id}`, `svix-timestamp: ${timestamp}`, `svix-signature: v1,${signature}`];
}

/** Reads one whole answer at a call. @returns its status line */
function reader(socket: Socket): () => Promise<string> {
  let held: Buffer = Buffer.alloc(0);
  let deliver: ((status: string) => void) | undefined;
  let fail: ((error: Error) => void) | undefined;
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const end = held.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = held.toString('latin1', 0, end);
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
    const isWhole = length === undefined ? isLastChunkThere(held) : held.length >= end + 4 + Number(length);
    if (!isWhole) return;
    held = Buffer.alloc(0);
    deliver?.(head.slice(0, head.indexOf('\r\n')));
  });
  for (const event of ['error', 'close'] as const) {
    socket.on(event, () => fail?.(new Error('the server closed a connection under load')));
  }
  return () =>
    new Promise((resolve, reject) => {
      [deliver, fail] = [resolve, reject];
    });
}

/** An answer without a length ends with an empty chunk. */
function isLastChunkThere(answer: Buffer): boolean {
  return answer.toString('latin1', answer.length - 5) === '0\r\n\r\n';
}
