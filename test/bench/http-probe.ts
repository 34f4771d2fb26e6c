import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface ProbeRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly token?: string | undefined;
  readonly body?: object;
}

export interface ProbeAnswer {
  readonly status: number;
  readonly body: string;
  readonly durationMs: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** One request over a kept connection. A request that gets no answer has the status 0. */
export function probe({ method, url, token, body }: ProbeRequest): Promise<ProbeAnswer> {
  const startedAt = performance.now();
  const payload = body && JSON.stringify(body);
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(payload === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
  };
  return new Promise((resolve) => {
    const failed = () => resolve({ status: 0, body: '', durationMs: performance.now() - startedAt });
    const outgoing = request(url, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', failed);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text, durationMs: performance.now() - startedAt }),
      );
    });
    outgoing.on('error', failed);
    outgoing.end(payload);
  });
}

/** Sends so many requests a second, whether or not those before are answered. @returns all answers */
export async function probeAtRate(
  perSecond: number,
  forMs: number,
  next: (index: number) => ProbeRequest,
): Promise<ProbeAnswer[]> {
  const answers: Promise<ProbeAnswer>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index * (1_000 / perSecond) < forMs; index++) {
    await pause(Math.max(0, startedAt + index * (1_000 / perSecond) - performance.now()));
    answers.push(probe(next(index)));
  }
  return Promise.all(answers);
}
