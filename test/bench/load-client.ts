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
  const texts = requests.map((request) => textOf(request, host));
  const refused: Record<string, number> = {};
  let [next, answers] = [0, 0];
  const startedAt = performance.now();
  const until = startedAt + forMs;
  const oneClient = async () => {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    const answer = reader(socket);
    while (performance.now() < until) {
      socket.write(texts[next++ % texts.length] as Buffer);
      const status = await answer();
      if (/ 2\d\d /.test(status)) answers++;
      else refused[status] = (refused[status] ?? 0) + 1;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: clients }, oneClient));
  return { answers, answersPerSecond: answers / ((performance.now() - startedAt) / 1_000), refused };
}

function textOf({ method, path, token, cookie, csrfToken, range, body }: LoadRequest, host: string): Buffer {
  const payload = body === undefined ? '' : JSON.stringify(body);
  return Buffer.from(
    [
      `${method} ${path} HTTP/1.1`,
      `host: ${host}`,
      'accept: application/json',
      ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
      ...(cookie === undefined ? [] : [`cookie: ${cookie}`]),
      ...(csrfToken === undefined ? [] : [`x-csrf-token: ${csrfToken}`]),
      ...(range === undefined ? [] : [`range: ${range}`]),
      ...(body === undefined
        ? []
        : ['content-type: application/json', `content-length: ${Buffer.byteLength(payload)}`]),
      '',
      payload,
    ].join('\r\n'),
  );
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
