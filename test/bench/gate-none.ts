import type { ApiInstallation } from './api-installation.ts';
import type { LoadRequest } from './load-generator.ts';
import type { Bench } from './row.ts';
import { SwitchedApi } from './switched-api.ts';

/** A change of a task while workflows are on and no definition is published, against the same change while they are off. */
export const gateNone: Bench = {
  name: 'gate-none',
  run: async (say) => {
    const api = await SwitchedApi.open({ CORE_WORKFLOWS_ENABLED: 'false' });
    try {
      const [{ token, taskIds }] = api.installation.people as [ApiInstallation['people'][number]];
      // Both fields can be held, and each request changes them.
      const bodies = [
        { status: 'in_progress', priority: 1 },
        { status: 'in_review', priority: 2 },
      ];
      const requests = bodies.flatMap((body) =>
        taskIds.map((id): LoadRequest => ({ method: 'PATCH', path: `/v1/tasks/${id}`, token, body })),
      );
      const note =
        'a task is changed while workflows are on and none is published; reference: workflows are off; aim: 0.95';
      return await api.duel({ name: 'gate-none', on: { CORE_WORKFLOWS_ENABLED: 'true' }, note, say }, requests);
    } finally {
      await api.close();
    }
  },
};
