import type { ApiInstallation } from './api-installation.ts';
import type { LoadRequest } from './load-generator.ts';
import type { Bench } from './row.ts';
import { SwitchedApi } from './switched-api.ts';

type Person = ApiInstallation['people'][number];

/** The page from which requests say that they come. */
export const origin = 'https://console.example.com';

/** What configuration can switch of the way of each request, all off. */
export const off = {
  CORE_SERVER_SECURE_ENABLED: 'false',
  CORE_SERVER_CORS_ENABLED: 'false',
  CORE_SERVER_CACHECONTROL_ENABLED: 'false',
  CORE_SERVER_CSRFPROTECTION_ENABLED: 'false',
  CORE_SERVER_MIME_ENABLED: 'false',
};

/** Each of them on, with what makes it work. */
const middlewares = {
  secure: { CORE_SERVER_SECURE_ENABLED: 'true' },
  cors: { CORE_SERVER_CORS_ENABLED: 'true', CORE_SERVER_CORS_ALLOWORIGINS: origin },
  cachecontrol: { CORE_SERVER_CACHECONTROL_ENABLED: 'true' },
  csrf: { CORE_SERVER_CSRFPROTECTION_ENABLED: 'true' },
  mime: { CORE_SERVER_MIME_ENABLED: 'true' },
  // So many that none is refused.
  ratelimit: {
    CORE_RATELIMIT_ENABLED: 'true',
    CORE_RATELIMIT_OPTIONS: JSON.stringify([{ requests: 10_000_000, window: 60_000 }]),
  },
} as const;

/** All of them on. */
export const everything = Object.assign({}, ...Object.values(middlewares)) as Readonly<Record<string, string>>;

export function readsOf({ token, taskIds }: Person): LoadRequest[] {
  return taskIds.map((id) => ({ method: 'GET', path: `/v1/tasks/${id}`, token, origin }));
}

/** Reads with each of the things between a request and its route on its own, and with all of them, against none. */
export const switchedMiddleware: readonly Bench[] = [
  ...Object.entries(middlewares).map(([name, on]) => reads(`middleware-${name}`, on, `with ${name} alone`)),
  reads('middleware-all', everything, `with ${Object.keys(middlewares).join(', ')}`),
];

function reads(name: string, on: Readonly<Record<string, string>>, what: string): Bench {
  return {
    name,
    run: async (say) => {
      const api = await SwitchedApi.open(off);
      try {
        const [owner] = api.installation.people as [Person];
        const note = `a task by id ${what}; reference: with none of them`;
        return await api.duel({ name, on, note, say }, readsOf(owner));
      } finally {
        await api.close();
      }
    },
  };
}
