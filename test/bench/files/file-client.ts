import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { FileLoad, FileLoadResult } from './file-load.ts';

/** Sends files and fetches them. The content is random; answers are counted and dropped. */
process.on('message', (load: FileLoad) => {
  run(load).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      throw error;
    },
  );
});

const block = randomBytes(1_048_576);
// The content has a type that files of records may have.
block.write('%PDF-1.7\n');

const boundary = 'benchmark-boundary';
const formHead = Buffer.from(
  `--${boundary}\r\ncontent-disposition: form-data; name="uploadFile"; filename="content.pdf"\r\ncontent-type: application/pdf\r\n\r\n`,
);
const formTail = Buffer.from(`\r\n--${boundary}--\r\n`);

const maxBodyKept = 4_096;

async function run(load: FileLoad): Promise<FileLoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  let [answers, receivedBytes, lastBody] = [0, 0, ''];
  const startedAt = performance.now();
  const oneConnection = async () => {
    do {
      const answer = await exchange(load, agent);
      answers++;
      receivedBytes += answer.receivedBytes;
      lastBody = answer.body;
    } while (performance.now() - startedAt < load.forMs);
  };
  await Promise.all(Array.from({ length: load.connections }, oneConnection));
  const seconds = (performance.now() - startedAt) / 1_000;
  agent.destroy();
  return { answers, seconds, receivedBytes, lastBody };
}

async function exchange(
  load: FileLoad,
  agent: Agent,
): Promise<{ readonly receivedBytes: number; readonly body: string }> {
  const { method, url, path, headers, sizeBytes, isForm } = load;
  const length = sizeBytes + (isForm ? formHead.length + formTail.length : 0);
  const outgoing = request(`${url}${path}`, {
    method,
    agent,
    headers: {
      ...headers,
      ...(isForm ? { 'content-type': `multipart/form-data; boundary=${boundary}` } : {}),
      ...(length > 0 ? { 'content-length': length } : {}),
    },
  });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  // Handled below; a refusal may come before all bytes are sent.
  answered.catch(() => {});
  if (isForm) outgoing.write(formHead);
  await sendContent(outgoing, sizeBytes);
  outgoing.end(isForm ? formTail : undefined);
  const [answer] = await answered;
  let [receivedBytes, body] = [0, ''];
  for await (const chunk of answer) {
    receivedBytes += (chunk as Buffer).length;
    if (receivedBytes <= maxBodyKept) body += String(chunk);
  }
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered ${status}: ${body}`);
  return { receivedBytes, body };
}

async function sendContent(outgoing: ClientRequest, sizeBytes: number): Promise<void> {
  const pieceBytes = 262_144;
  for (let sent = 0; sent < sizeBytes; sent += pieceBytes) {
    const start = sent % block.length;
    const piece = block.subarray(start, start + Math.min(pieceBytes, sizeBytes - sent));
    if (!outgoing.write(piece)) await once(outgoing, 'drain');
  }
}
