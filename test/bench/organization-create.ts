import { newId } from '#entities/kit/base/ids.ts';
import { openApiInstallation } from './api-installation.ts';
import { alternate } from './duel.ts';
import { pace } from './pace.ts';
import type { Bench } from './row.ts';

const clients = 16;

/** Organizations with all that comes with them, against single tasks: what one costs. */
export const organizationCreate: Bench = {
  name: 'organization-create',
  run: async (say) => {
    const installation = await openApiInstallation({ CORE_ORMCONFIG_ENTITYTYPES: 'Vendor,Customer,Partner' });
    try {
      const { url, people } = installation;
      const rate = async (path: string, body: () => object): Promise<number> => {
        const startedAt = performance.now();
        let made = 0;
        await Promise.all(
          people.slice(0, clients).map(async ({ token }) => {
            while (performance.now() < startedAt + pace.roundMs) {
              const answer = await fetch(`${url}${path}`, {
                method: 'POST',
                headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
                body: JSON.stringify(body()),
              });
              if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
              await answer.arrayBuffer();
              made++;
            }
          }),
        );
        return made / ((performance.now() - startedAt) / 1_000);
      };
      const organizations = () => rate('/v1/organizations', () => ({ name: `Benchmark ${newId()}` }));
      await organizations();
      return await alternate({
        name: 'organization-create',
        unit: 'creations/s',
        ours: organizations,
        reference: () => rate('/v1/tasks', () => ({ title: 'To be done' })),
        rounds: pace.rounds,
        note: `${clients} clients create organizations of 15 records each; reference: the same with tasks`,
        say,
      });
    } finally {
      await installation.close();
    }
  },
};
