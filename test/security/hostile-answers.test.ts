// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Asked, HostileQuestion } from './ask-hostile-server.ts';

/** Time that a request has here; the product gives it fifteen seconds. */
const timeoutMs = 800;
const maxBytes = 65_536;
/** Requests of which each is answered in the same way. */
const requests = 30;
/** How far memory may grow through all of them, in bytes. */
const maxGrowth = 20 * 1_048_576;

const head = (...headers: readonly string[]) => ['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n');
const bomb = gzipSync(Buffer.alloc(50_000_000));

/** Writes again and again, as fast as it is taken or at intervals, until the connection ends. */
function endless(socket: Socket, chunk: Buffer | string, everyMs?: number): void {
  if (everyMs !== undefined) {
    const timer = setInterval(() => socket.write(chunk), everyMs);
    socket.once('close', () => clearInterval(timer));
    return;
  }
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** How a server answers that wants time or memory of whoever asks, and how the request ends. */
const answers: Readonly<Record<string, { readonly reply: (socket: Socket) => void; readonly end: RegExp }>> = {
  'a body without end': {
    reply: (socket) => {
      socket.write(head('transfer-encoding: chunked'));
      endless(socket, `10000\r\n${'x'.repeat(65_536)}\r\n`);
    },
    end: /more than 65536 bytes/,
  },
  'a body that is said to be large': {
    reply: (socket) => {
      socket.write(head('content-length: 99999999999'));
      endless(socket, Buffer.alloc(65_536));
    },
    end: /more than 65536 bytes/,
  },
  'a body of one byte after the other': {
    reply: (socket) => {
      socket.write(head('transfer-encoding: chunked'));
      endless(socket, '1\r\nx\r\n', 50);
    },
    end: /does not answer within/,
  },
  'a gzip bomb': {
    reply: (socket) => {
      socket.end(Buffer.concat([Buffer.from(head('content-encoding: gzip', `content-length: ${bomb.length}`)), bomb]));
    },
    end: /^200$|more than 65536 bytes/,
  },
  'a thousand headers': {
    reply: (socket) => {
      socket.end(head(...Array.from({ length: 1_000 }, (_none, index) => `x-${index}: y`), 'content-length: 0'));
    },
    end: /^200$|cannot be reached/,
  },
  'headers without end': {
    reply: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      endless(socket, `x-${'a'.repeat(1_000)}: ${'b'.repeat(10_000)}\r\n`);
    },
    end: /cannot be reached/,
  },
  'headers of one byte after the other': {
    reply: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
      endless(socket, 'y', 50);
    },
    end: /does not answer within/,
  },
  'interim answers without end': {
    reply: (socket) => endless(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 20),
    end: /does not answer within/,
  },
  nothing: { reply: () => {}, end: /does not answer within/ },
};

let asker: ChildProcess;
beforeAll(async () => {
  // A process of its own: what others hold in memory is not what is measured.
  asker = fork(join(import.meta.dirname, 'ask-hostile-server.ts'), { execArgv: ['--expose-gc'] });
  await once(asker, 'message');
});
afterAll(async () => {
  const ended = once(asker, 'exit');
  asker.kill();
  await ended;
});

async function serve(reply: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => reply(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function ask(question: HostileQuestion): Promise<Asked> {
  asker.send(question);
  const [asked] = (await once(asker, 'message')) as [Asked];
  return asked;
}

test.each(Object.keys(answers))('T-85: %s costs a request its time and bytes at most, and no memory', async (name) => {
  const { reply, end } = answers[name] ?? expect.unreachable(name);
  const server = await serve(reply);
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { ends, longestMs, growth } = await ask({ url, requests, timeoutMs, maxBytes });
    expect(ends.filter((one) => !end.test(one))).toEqual([]);
    expect(longestMs).toBeLessThan(timeoutMs + 5_000);
    expect(growth).toBeLessThan(maxGrowth);
  } finally {
    server.close();
  }
});
