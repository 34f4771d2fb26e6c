import { startRedisServer } from '../kit/servers/redis-server.ts';
import type { LoadRequest } from './load-generator.ts';
import type { Bench } from './row.ts';
import { SwitchedApi } from './switched-api.ts';

/** So many that none is refused. */
const limits = {
  CORE_RATELIMIT_ENABLED: 'true',
  CORE_RATELIMIT_OPTIONS: JSON.stringify([{ requests: 10_000_000, window: 60_000 }]),
};

/** Reads of a process that counts requests in its memory. */
export const rateLimitMemory: Bench = {
  name: 'rate-limit-memory',
  run: (say) => measure('rate-limit-memory', 'in its memory', limits, say),
};

/** Reads of a process that counts requests in Redis. */
export const rateLimitRedis: Bench = {
  name: 'rate-limit-redis',
  run: async (say) => {
    const server = await startRedisServer();
    if (typeof server === 'string') throw new Error(server);
    try {
      const cache = {
        CORE_CACHE_ENABLED: 'true',
        CORE_CACHE_ADDRESS: server.url.host,
        CORE_CACHE_PASSWORD: server.url.password,
      };
      return await measure('rate-limit-redis', 'in Redis', { ...limits, ...cache }, say);
    } finally {
      await server.stop();
    }
  },
};

/** Two processes of one installation, of which one has the settings. */
async function measure(name: string, where: string, on: Readonly<Record<string, string>>, say: (line: string) => void) {
  const api = await SwitchedApi.open();
  try {
    const [owner] = api.installation.people;
    const requests = (owner?.taskIds ?? []).map((id): LoadRequest => ({
      method: 'GET',
      path: `/v1/tasks/${id}`,
      token: owner?.token ?? '',
    }));
    const note = `a task by id while requests are counted ${where}; reference: the same without a rate limit`;
    return await api.duel({ name, on, note, say }, requests);
  } finally {
    await api.close();
  }
}
