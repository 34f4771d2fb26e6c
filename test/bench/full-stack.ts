import type { ApiInstallation } from './api-installation.ts';
import type { LoadRequest } from './load-generator.ts';
import { endpointSettings } from './messages/bench-endpoints.ts';
import { createEndpoint } from './messages/create-endpoint.ts';
import { everything, off, origin, readsOf } from './switched-middleware.ts';
import type { Bench } from './row.ts';
import { SwitchedApi } from './switched-api.ts';

type Person = ApiInstallation['people'][number];

/** Metrics of the work that follows, too. */
const metrics = {
  CORE_JOBQUEUE_METRICS_ENABLEMETRICS: 'true',
  CORE_JOBQUEUE_METRICS_ENABLESEMANTICMETRICS: 'true',
};

function createsOf({ token }: Person): LoadRequest[] {
  const body = { title: 'Something that somebody has to do' };
  return [{ method: 'POST', path: '/v1/tasks', token, origin, body }];
}

/** Reads and creates with all that an installation in production has on, against none of it. */
export const fullStack: readonly Bench[] = [
  stack('read-full-stack', readsOf, 'a task by id'),
  stack('create-full-stack', createsOf, 'a task whose event an endpoint wants'),
];

function stack(name: string, requestsOf: (person: Person) => LoadRequest[], what: string): Bench {
  return {
    name,
    run: async (say) => {
      const api = await SwitchedApi.open({ ...off, ...endpointSettings });
      try {
        // The first organization is unlike the others.
        const [, announced, silent] = api.installation.people as [Person, Person, Person];
        await createEndpoint(api.installation.url, announced.token);
        const note = `${what}, with rate limit, CORS, CSRF, secure headers, cache control, MIME types, metrics and an endpoint; reference: without them`;
        return await api.duel(
          { name, on: { ...everything, ...metrics }, note, say },
          requestsOf(announced),
          requestsOf(silent),
        );
      } finally {
        await api.close();
      }
    },
  };
}
