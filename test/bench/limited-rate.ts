import { eventually } from '../kit/eventually.ts';
import { startRedisServer } from '../kit/redis-server.ts';
import { ProductProcess } from '../kit/spawned-process.ts';
import { openApiInstallation } from './api-installation.ts';
import { duel } from './duel.ts';
import type { LoadRequest } from './load-generator.ts';
import type { Bench } from './row.ts';

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
async function measure(
  name: string,
  where: string,
  settings: Readonly<Record<string, string>>,
  say: (line: string) => void,
) {
  const installation = await openApiInstallation();
  const limited = new ProductProcess({
    program: 'api/api-main.ts',
    environment: { ...installation.environment, ...settings },
    isSilent: true,
  });
  try {
    await limited.ready;
    await eventually(() => limited.url !== '');
    const [owner] = installation.people;
    const requests = (owner?.taskIds ?? []).map((id): LoadRequest => ({
      method: 'GET',
      path: `/v1/tasks/${id}`,
      token: owner?.token ?? '',
    }));
    return await duel({
      name,
      ours: { url: limited.url, requests },
      reference: { url: installation.url, requests },
      note: `a task by id while requests are counted ${where}; reference: the same without a rate limit`,
      say,
    });
  } finally {
    await limited.stop();
    await installation.close();
  }
}
