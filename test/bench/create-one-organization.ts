import { openApiInstallation } from './api-installation.ts';
import { duel } from './duel.ts';
import type { LoadRequest } from './load-generator.ts';
import type { Bench } from './row.ts';

/** Creates of sixteen clients in one organization, against the same in sixteen: what they wait for each other. */
export const createOneOrganization: Bench = {
  name: 'create-one-organization',
  run: async (say) => {
    const installation = await openApiInstallation();
    try {
      const { url, people } = installation;
      const requests = people.map(({ token }): LoadRequest => ({
        method: 'POST',
        path: '/v1/tasks',
        token,
        body: { title: 'To be done' },
      }));
      return await duel({
        name: 'create-one-organization',
        ours: { url, requests: requests.slice(0, 1) },
        reference: { url, requests },
        note: 'creates of 16 clients in one organization; reference: the same in 16',
        say,
      });
    } finally {
      await installation.close();
    }
  },
};
