import { outboundRequest } from '#activities/clients/outbound/outbound-request.ts';

export interface HostileQuestion {
  readonly url: string;
  readonly requests: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface Asked {
  /** How each request ended: its status or its error. */
  readonly ends: readonly string[];
  readonly longestMs: number;
  /** How far the memory of this process was above that of the beginning, in bytes. */
  readonly growth: number;
}

/** Requests of one round, at the same time. */
const atOnce = 10;

async function ask({ url, timeoutMs, maxBytes }: HostileQuestion): Promise<readonly [end: string, ms: number]> {
  const begunAt = performance.now();
  const limits = { reach: { loopback: true }, timeoutMs, maxBytes, keptBytes: 4_096 };
  const end = await outboundRequest(url, { method: 'POST', headers: {}, body: '{}' }, limits).then(
    ({ status }) => String(status),
    (error: Error) => error.message,
  );
  return [end, performance.now() - begunAt];
}

async function askAll(question: HostileQuestion): Promise<Asked> {
  const round = () => Promise.all(Array.from({ length: atOnce }, () => ask(question)));
  // What is loaded and compiled with the first requests stays.
  await round();
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  const ends: (readonly [string, number])[] = [];
  while (ends.length < question.requests) ends.push(...(await round()));
  clearInterval(watch);
  globalThis.gc?.();
  return {
    ends: ends.map(([end]) => end),
    longestMs: Math.max(...ends.map(([, ms]) => ms)),
    growth: most - before,
  };
}

process.on('message', (question: HostileQuestion) => {
  void askAll(question).then((asked) => process.send?.(asked));
});
process.send?.('ready');
