import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Arrivals, SinkQuestion } from './bench-sink.ts';

/**
 * The server of customers: it takes every message and answers 204. What comes to the path `/hang` is not answered while it is
 * told so. Of each message it remembers when the first copy came.
 */
const arrivals = new Map<string, number>();
let copies = 0;
let hangs = false;
const held: ServerResponse[] = [];

const server = createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => {
    if (hangs && request.url === '/hang') {
      held.push(response);
      return;
    }
    const id = String(request.headers['webhook-id']);
    copies++;
    if (request.url !== '/hang' && !arrivals.has(id)) arrivals.set(id, Date.now());
    response.writeHead(204).end();
  });
});

process.on('message', (question: SinkQuestion) => {
  if (question.hangs !== undefined) ({ hangs } = question);
  // What hung is answered, so that nothing of it lasts into the next round.
  if (!hangs) for (const response of held.splice(0)) response.writeHead(204).end();
  const answer: Arrivals = { arrivals: question.wantsArrivals ? [...arrivals] : [], count: arrivals.size, copies };
  if (question.forgets) {
    arrivals.clear();
    copies = 0;
  }
  process.send?.(answer);
});

server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
